/**
 * What changed in a simulator, for programs that follow it.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import type * as IssuedToken from "./IssuedToken.ts"
import type * as Received from "./Received.ts"

/**
 * A change, with its revision, for `changes`.
 *
 * - `Reset`: the simulator was reset. What was known before is gone.
 * - `Request`: a request was received, or its outcome is known.
 * - `Token`: a token was issued or revoked.
 * - `Settings`: a setting changed, such as the faults or the clock.
 *
 * @since 1.0.0
 * @category models
 */
export type Change = Data.TaggedEnum<{
  Reset: { readonly revision: number }
  Request: { readonly revision: number; readonly request: Received.Received }
  Token: { readonly revision: number; readonly token: IssuedToken.IssuedToken }
  Settings: { readonly revision: number }
}>

/**
 * Constructors of the changes, with `$is` and `$match`.
 *
 * @since 1.0.0
 * @category constructors
 */
export const { $is, $match, Request, Reset, Settings, Token } = Data.taggedEnum<Change>()
