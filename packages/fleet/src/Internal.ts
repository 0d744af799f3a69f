/**
 * What the command shares with this package. It is no part of the public API: it may change in any version.
 *
 * @since 1.0.0
 */
export * as Format from "./internal/format.ts"
export * as Sealing from "./internal/sealing.ts"
export * as Stored from "./internal/stored.ts"
