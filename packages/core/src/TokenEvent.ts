/**
 * The events of the supply of tokens.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import type { TokenError } from "./TokenError.ts"

/**
 * A change in the supply of tokens; safe to print. `Requested`: a token request is about to be sent. `Obtained`: there is a
 * token, and none was valid before. `Renewed`: a new token has replaced a valid one. `Failed`: a token request failed; the
 * error carries the time of the next attempt. `Invalidated`: the business API rejected the token.
 *
 * @since 1.0.0
 * @category models
 */
export type TokenEvent = Data.TaggedEnum<{
  Requested: { readonly at: DateTime.Utc }
  Obtained: { readonly at: DateTime.Utc; readonly scopes: ReadonlyArray<string>; readonly expiresAt: DateTime.Utc }
  Renewed: { readonly at: DateTime.Utc; readonly scopes: ReadonlyArray<string>; readonly expiresAt: DateTime.Utc }
  Failed: { readonly at: DateTime.Utc; readonly error: TokenError }
  Invalidated: { readonly at: DateTime.Utc }
}>

/**
 * Constructors of the events, with `$is` and `$match`.
 *
 * @since 1.0.0
 * @category constructors
 */
export const { $is, $match, Failed, Invalidated, Obtained, Renewed, Requested } = Data.taggedEnum<TokenEvent>()
