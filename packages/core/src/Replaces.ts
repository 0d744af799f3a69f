/**
 * Why a token is requested, and which token the new one replaces.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import type { AccessScope } from "./AccessScope.ts"
import type { AccessToken } from "./AccessToken.ts"

/**
 * Why a token is requested, and which token it replaces. `Nothing`: there is no valid token to replace. `Due`: the renewal of the
 * token is due. `Rejected`: the business API rejected the token. `Insufficient`: a call needs a scope that the token does not cover.
 * `Refresh`: the program called `refresh`, with or without a token.
 *
 * An endpoint that sends one token request each time does not need it. A shared store does: it uses the reason to decide
 * whether another process's token may be used.
 *
 * @since 1.0.0
 * @category models
 */
export type Replaces = Data.TaggedEnum<{
  Nothing: {}
  Due: { readonly token: AccessToken }
  Rejected: { readonly token: AccessToken }
  Insufficient: { readonly token: AccessToken; readonly scope: AccessScope }
  Refresh: { readonly token?: AccessToken | undefined }
}>

/**
 * Constructors of the reasons, with `$is` and `$match`.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { Replaces, TokenEndpoint } from "@credit-data/core"
 * import { Effect } from "effect"
 *
 * export const token = Effect.flatMap(
 *   TokenEndpoint.TokenEndpoint,
 *   (endpoint) => endpoint.requestToken(Replaces.Nothing())
 * )
 * ```
 */
export const { $is, $match, Due, Insufficient, Nothing, Refresh, Rejected } = Data.taggedEnum<Replaces>()
