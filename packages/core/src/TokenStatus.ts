/**
 * How the supply of tokens is doing, safe to print.
 *
 * @since 1.0.0
 */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { TokenError } from "./TokenError.ts"

/**
 * Where a token is in its life (service contract, section 3). `None`: there is none. `Valid`: it is used. `Due`: it is
 * used, and the next caller starts its renewal in the background. `Expiring`: so little of its life is left that callers
 * wait for the renewal. `Expired`: it is never sent again.
 *
 * @since 1.0.0
 * @category models
 */
export type TokenPhase = "None" | "Valid" | "Due" | "Expiring" | "Expired"

/**
 * The state of a supply of tokens, for health checks and logs. It holds no secret.
 *
 * @since 1.0.0
 * @category models
 */
export interface TokenStatus {
  /** The name of the environment. */
  readonly environment: string
  /** Where the token is in its life. */
  readonly phase: TokenPhase
  /** The business API rejected the token. It is in use until there is another one. */
  readonly rejected: boolean
  /** The scopes that were granted. */
  readonly scopes: ReadonlyArray<string>
  /** The scopes that were requested and are not covered by the token: none without a token. */
  readonly missingScopes: ReadonlyArray<string>
  /** When the token expires. */
  readonly expiresAt: Option.Option<DateTime.Utc>
  /** From when on a caller starts the next token request: by the token's age, or after a failure. */
  readonly nextRequestAt: Option.Option<DateTime.Utc>
  /** Why the last token request failed, until one succeeds. */
  readonly lastFailure: Option.Option<TokenError>
}

/**
 * Can a program that depends on this supply be expected to work: for a readiness probe. True with a token that may be sent, and
 * before the first call, when nothing is known yet; false when there is no such token, or the token was rejected, and the last
 * token request failed.
 *
 * @since 1.0.0
 * @category guards
 * @example
 * ```ts
 * import { AccessTokens, TokenStatus } from "@credit-data/core"
 * import { Effect } from "effect"
 *
 * export const isReady = Effect.gen(function*() {
 *   const tokens = yield* AccessTokens.AccessTokens
 *   return TokenStatus.isUsable(yield* tokens.status)
 * })
 * ```
 */
export const isUsable = ({ lastFailure, phase, rejected }: TokenStatus): boolean =>
  Option.isNone(lastFailure) || (!rejected && phase !== "None" && phase !== "Expired")
