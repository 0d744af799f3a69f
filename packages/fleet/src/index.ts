export * as SharedTokens from "./SharedTokens.ts"
export * as StoreError from "./StoreError.ts"
export * as TokenStore from "./TokenStore.ts"
