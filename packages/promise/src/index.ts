export * from "./Connect.ts"
export * from "./Connection.ts"
export * from "./Failure.ts"
export * from "./Log.ts"
