export * as AuthV2 from "./AuthV2.ts"
