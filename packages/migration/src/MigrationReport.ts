/**
 * What has happened in a migration so far.
 *
 * @since 1.0.0
 */
import type { TokenError } from "@credit-data/core/TokenError"
import type * as DateTime from "effect/DateTime"
import type * as Option from "effect/Option"
import type { FallbackReason } from "./MigrationEvent.ts"
import type { Plan } from "./Plan.ts"

/**
 * What has happened with one version. The counts begin when the layer is built.
 *
 * @since 1.0.0
 * @category models
 */
export interface VersionReport {
  /** How many tokens were obtained, in all stages. */
  readonly tokensObtained: number
  /** How many token requests failed, with their retries. */
  readonly tokenRequestsFailed: number
  /** How often a caller got a token of this version. */
  readonly tokensServed: number
  /** How many calls reported that the business API rejected a token of this version (401). */
  readonly tokensRejected: number
  /** The scopes of the current token, with the names that the server uses. Empty without a token. */
  readonly scopes: ReadonlyArray<string>
  /** The requested scopes that the current token does not cover. Auth V1 has no requested scopes. */
  readonly missingScopes: ReadonlyArray<string>
  /** Why the last token request failed. None if it succeeded, or if there was none. */
  readonly lastFailure: Option.Option<TokenError>
}

/**
 * The report of a migration; safe to print.
 *
 * @since 1.0.0
 * @category models
 */
export interface MigrationReport {
  /** The plan in use. */
  readonly plan: Plan
  readonly v1: VersionReport
  readonly v2: VersionReport
  /** How often a caller got a V1 token instead of a V2 token. */
  readonly fallbacks: number
  /** Since when, and why, V1 tokens are used instead of V2 tokens. None if they are not. */
  readonly fallenBack: Option.Option<{ readonly since: DateTime.Utc; readonly reason: FallbackReason }>
}
