/**
 * What the command shares with this package. It is no part of the public API: it may change in any version.
 *
 * @since 1.0.0
 */
export * as Format from "./internal/format.ts"
export * as Sealing from "./internal/sealing.ts"
export type { Stored } from "./internal/stored.ts"

/** What reads all of a store. It needs Effect, which the command does not load to open a token. */
export const loadStored = () => import("./internal/stored.ts")
