/**
 * The tokens that the simulated authorization servers issued.
 *
 * @since 1.0.0
 */
import type * as DateTime from "effect/DateTime"

/**
 * An issued token, without its text.
 *
 * @since 1.0.0
 * @category models
 */
export interface IssuedToken {
  /** 1 for the first token of the simulator. Later tokens have higher numbers, even after a reset. */
  readonly id: number
  /** The authorization server that issued it. The API accepts a V1 token for all endpoint groups. */
  readonly version: "V1" | "V2"
  readonly scopes: ReadonlyArray<string>
  /** By the clock of the simulator. */
  readonly issuedAt: DateTime.Utc
  /** By the clock of the simulator. */
  readonly expiresAt: DateTime.Utc
  /** Whether it was revoked, so that the business API rejects it. */
  readonly revoked: boolean
}
