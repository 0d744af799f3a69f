export * as SharedTokens from "./SharedTokens.ts"
export * as StoreEngine from "./StoreEngine.ts"
export * as StoreError from "./StoreError.ts"
export * as TokenStore from "./TokenStore.ts"
