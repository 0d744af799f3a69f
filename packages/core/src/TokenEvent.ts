/**
 * The events of the supply of tokens.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import type { AccessScope } from "./AccessScope.ts"
import type { AccessToken } from "./AccessToken.ts"
import type { TokenError } from "./TokenError.ts"

/**
 * Why a token is requested, and which token the new one replaces.
 *
 * - `Nothing`: there is no valid token.
 * - `Due`: the renewal of the token is due.
 * - `Rejected`: the business API rejected the token.
 * - `Insufficient`: a call needs a scope that the token does not cover.
 * - `Refresh`: your program called `refresh`.
 *
 * @since 1.0.0
 * @category models
 */
export type RequestReason =
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Due"; readonly token: AccessToken }
  | { readonly _tag: "Rejected"; readonly token: AccessToken }
  | { readonly _tag: "Insufficient"; readonly token: AccessToken; readonly scope: AccessScope }
  | { readonly _tag: "Refresh"; readonly token?: AccessToken | undefined }

/**
 * A token request.
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
  readonly reason: RequestReason["_tag"]
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
 * A use of the store that the processes of a fleet share.
 *
 * @since 1.0.0
 * @category models
 */
export interface StoreUse {
  /** When the event happened. */
  readonly at: DateTime.Utc
  /** The address of the token endpoint. */
  readonly tokenEndpoint: string
}

/**
 * Why a store could not be used.
 *
 * - `Unavailable`: the store cannot be reached.
 * - `Timeout`: the store did not respond in time.
 * - `Refused`: the store returned an error, because it is full or read-only, for example.
 * - `Sealing`: the client secret is too short for sharing.
 *
 * @since 1.0.0
 * @category models
 */
export type StoreFailure = "Unavailable" | "Timeout" | "Refused" | "Sealing"

/**
 * A change in the supply of tokens; safe to print.
 *
 * - `Requested`: a token request is about to be sent or, with a shared store, the store is about to be read.
 * - `Obtained`: there is a token, and none was valid before.
 * - `Renewed`: a new token has replaced a valid one.
 * - `Shared`: a token was taken from the shared store, and no token request was sent.
 * - `Failed`: a token request failed. The error carries the time of the next attempt.
 * - `Invalidated`: the business API rejected a token.
 * - `StoreFailed`: the shared store could not be used.
 *
 * @since 1.0.0
 * @category models
 */
export type TokenEvent = Data.TaggedEnum<{
  Requested: TokenRequest
  Obtained: Success
  Renewed: Success
  Shared: Success
  Failed: Failure
  Invalidated: { readonly at: DateTime.Utc; readonly tokenEndpoint: string }
  StoreFailed: StoreUse & { readonly reason: StoreFailure }
}>

/**
 * Constructors of the events, with `$is` and `$match`.
 *
 * @since 1.0.0
 * @category constructors
 */
export const { $is, $match, Failed, Invalidated, Obtained, Renewed, Requested, Shared, StoreFailed } = Data
  .taggedEnum<TokenEvent>()
