/**
 * The state of the supply of tokens; safe to print.
 *
 * @since 1.0.0
 */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { TokenError } from "./TokenError.ts"
import type { StoreFailure } from "./TokenEvent.ts"

/**
 * The phase of a token in its life (service contract, section 3): of the newer token until it expires, and then of the older token, if the
 * supply still has one.
 *
 * - `None`: there is no token.
 * - `Valid`: the token is used.
 * - `Due`: the token is used, and the next caller starts its renewal in the background.
 * - `Expiring`: so little of its life is left that callers wait for the renewal.
 * - `Expired`: the token has expired.
 *
 * @since 1.0.0
 * @category models
 */
export type TokenPhase = "None" | "Valid" | "Due" | "Expiring" | "Expired"

/**
 * How a process uses the store that it shares with the other processes of a fleet.
 *
 * @since 1.0.0
 * @category models
 */
export interface StoreStatus {
  /** When the process last used the store. `lastFault` shows whether that failed. None before the first use. */
  readonly lastUsedAt: Option.Option<DateTime.Utc>
  /** How many tokens were taken from the store. */
  readonly tokensTaken: number
  /** How many failures of other processes were taken from the store. */
  readonly failuresTaken: number
  /** How many tokens and failures were put into the store. */
  readonly published: number
  /** How often the store could not be used. */
  readonly faults: number
  /** When and why the store could not be used the last time. None after it was used successfully. */
  readonly lastFault: Option.Option<{ readonly at: DateTime.Utc; readonly reason: StoreFailure }>
}

/**
 * The state of a supply of tokens, for health checks and logs. It contains no secret.
 *
 * @since 1.0.0
 * @category models
 */
export interface TokenStatus {
  /** The name of the environment. */
  readonly environment: string
  /** The id of the client for which tokens are requested, if the token endpoint has one. */
  readonly clientId: Option.Option<string>
  /** The address of the token endpoint. */
  readonly tokenEndpoint: string
  /** The version of the token endpoint, if its adapter has one: `V1` or `V2`. */
  readonly version: Option.Option<string>
  /** The phase of the newer token or, once it has expired, of the older one. The other fields about a token describe the same token. */
  readonly phase: TokenPhase
  /** Whether the business API rejected the token that `get` returns, and with it every token that the supply holds. */
  readonly rejected: boolean
  /** The scopes that are requested. Empty for an endpoint without scopes. */
  readonly requestedScopes: ReadonlyArray<string>
  /** The scopes that were granted. */
  readonly scopes: ReadonlyArray<string>
  /** The scopes that were requested and that the token does not cover. Empty without a token. */
  readonly missingScopes: ReadonlyArray<string>
  /** When the token was requested. Its lifetime counts from here. */
  readonly requestedAt: Option.Option<DateTime.Utc>
  /** When the token expires. */
  readonly expiresAt: Option.Option<DateTime.Utc>
  /** The time from which a caller starts the next token request. */
  readonly nextRequestAt: Option.Option<DateTime.Utc>
  /** The failure of the last token request, until there is a new token or `refresh` forgets it. */
  readonly lastFailure: Option.Option<TokenError>
  /** When the first of the consecutive failures happened. None after a success. */
  readonly failingSince: Option.Option<DateTime.Utc>
  /** How many token requests in a row have failed, with their retries. 0 after a success. */
  readonly consecutiveFailures: number
  /** How many callers wait for a token now. */
  readonly callersWaiting: number
  /** How often a caller got a token, since the supply was built. */
  readonly tokensServed: number
  /** The use of the shared store, if there is one. */
  readonly store: Option.Option<StoreStatus>
}

/**
 * Returns whether a program that depends on this supply can get tokens. For a readiness probe. It is false in two cases:
 *
 * - The last token request failed, and the supply has no valid token.
 * - The token covers none of the requested scopes (`missingScopes`).
 *
 * In all other cases it is true, even before the first call, and while the business API returns 401.
 *
 * Reading `status` sends no request. A program that gets no calls while it is not ready therefore has to call `get` from time to time:
 * `get` respects the back-off after failures.
 *
 * @since 1.0.0
 * @category guards
 * @example
 * ```ts
 * import { AccessTokens, TokenStatus } from "@credit-data/core"
 * import { Effect } from "effect"
 *
 * export const isUsable = Effect.gen(function*() {
 *   const tokens = yield* AccessTokens.AccessTokens
 *   return TokenStatus.isUsable(yield* tokens.status)
 * })
 * ```
 */
export const isUsable = (
  { lastFailure, missingScopes, phase, requestedScopes }: TokenStatus
): boolean =>
  (missingScopes.length === 0 || missingScopes.length < requestedScopes.length) &&
  (Option.isNone(lastFailure) || (phase !== "None" && phase !== "Expired"))
