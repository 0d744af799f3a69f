/**
 * The events of the supply of tokens.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import type { TokenError } from "./TokenError.ts"

/**
 * Why a token is requested. `Nothing`: there is no valid token to replace. `Due`: the renewal of the token is due. `Rejected`: the
 * business API rejected the token. `Insufficient`: a call needs a scope that the token does not cover. `Refresh`: the program
 * called `refresh`. `Retry`: the previous request failed, and this one repeats it.
 *
 * @since 1.0.0
 * @category models
 */
export type RequestReason = "Nothing" | "Due" | "Rejected" | "Insufficient" | "Refresh" | "Retry"

/**
 * A token request. Both times of an event come from different clocks: `at` is the wall time, and a `duration` is measured with the
 * monotonic clock.
 *
 * @since 1.0.0
 * @category models
 */
export interface TokenRequest {
  /** When the event happened. */
  readonly at: DateTime.Utc
  /** The address of the token endpoint. */
  readonly tokenEndpoint: string
  /** Why the token is requested. */
  readonly reason: RequestReason
}

/**
 * A token request that succeeded.
 *
 * @since 1.0.0
 * @category models
 */
export interface Success extends TokenRequest {
  /** How long the token request took. */
  readonly duration: Duration.Duration
  /** The scopes that were granted. */
  readonly scopes: ReadonlyArray<string>
  /** When the token expires. */
  readonly expiresAt: DateTime.Utc
  /** When its renewal is due. */
  readonly dueAt: DateTime.Utc
}

/**
 * A token request that failed.
 *
 * @since 1.0.0
 * @category models
 */
export interface Failure extends TokenRequest {
  /** How long the token request took. */
  readonly duration: Duration.Duration
  /** The failure, with the time of the next attempt. */
  readonly error: TokenError
}

/**
 * A change in the supply of tokens; safe to print. `Requested`: a token request is about to be sent. `Obtained`: there is a
 * token, and none was valid before. `Renewed`: a new token has replaced a valid one. `Failed`: a token request failed; the
 * error carries the time of the next attempt. `Invalidated`: the business API rejected the token.
 *
 * @since 1.0.0
 * @category models
 */
export type TokenEvent = Data.TaggedEnum<{
  Requested: TokenRequest
  Obtained: Success
  Renewed: Success
  Failed: Failure
  Invalidated: { readonly at: DateTime.Utc; readonly tokenEndpoint: string }
}>

/**
 * Constructors of the events, with `$is` and `$match`.
 *
 * @since 1.0.0
 * @category constructors
 */
export const { $is, $match, Failed, Invalidated, Obtained, Renewed, Requested } = Data.taggedEnum<TokenEvent>()
