export * as RedisTokenStore from "./RedisTokenStore.ts"
