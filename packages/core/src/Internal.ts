/**
 * What the packages of this project share with each other, and what a simulation needs. It is no part of the public API: it may change
 * in any version, so each package depends on the exact version of this one.
 *
 * @since 1.0.0
 */
export { amend } from "./internal/amend.ts"
export * as Instant from "./internal/instant.ts"
export * as Observed from "./internal/observed.ts"
export * as SafeLog from "./internal/safeLog.ts"
export { sharedLayer } from "./internal/sharedLayer.ts"
export * as Broadcast from "./internal/supply/broadcast.ts"
export * as Pause from "./internal/supply/pause.ts"
export * as Recovery from "./internal/supply/recovery.ts"
export * as TokenLife from "./internal/supply/tokenLife.ts"
export * as Transport from "./internal/transport.ts"
export * as Validation from "./internal/validation.ts"
export { within } from "./internal/within.ts"
