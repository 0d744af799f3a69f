export * as AuthV1 from "./AuthV1.ts"
