/**
 * What has happened in a migration so far.
 *
 * @since 1.0.0
 */
import type { AccessScope } from "@credit-data/core/AccessScope"
import type { TokenError } from "@credit-data/core/TokenError"
import type { TokenStatus } from "@credit-data/core/TokenStatus"
import type * as DateTime from "effect/DateTime"
import type * as Option from "effect/Option"
import type { Plan } from "./Plan.ts"

/**
 * Why V1 tokens are used instead of V2 tokens. `Failed`: the token request failed. `Slow`: there was no token within
 * 2 seconds. `MissingScopes`: the token does not cover all needed scopes. A 401 of the business API is no reason: the call that got it
 * is sent again with a V1 token, and the next call begins with a V2 token.
 *
 * @since 1.0.0
 * @category models
 */
export type FallbackReason =
  | { readonly _tag: "Failed"; readonly error: TokenError }
  | { readonly _tag: "Slow" }
  | { readonly _tag: "MissingScopes"; readonly scopes: ReadonlyArray<AccessScope> }

/**
 * A use of V1 tokens instead of V2 tokens.
 *
 * @since 1.0.0
 * @category models
 */
export interface Fallback {
  readonly since: DateTime.Utc
  readonly reason: FallbackReason
  /** The scope of the endpoint group that uses V1 tokens. None: all groups do. */
  readonly scope: Option.Option<AccessScope>
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
  /** The state of Auth V1's supply. `tokensServed` counts the tokens that callers of the migration got. */
  readonly v1: TokenStatus
  /** The state of Auth V2's supply, in all stages. `tokensServed` counts the tokens that callers of the migration got. */
  readonly v2: TokenStatus
  /** How often a caller got a V1 token instead of a V2 token. */
  readonly fallbacks: number
  /** Where V1 tokens are used now instead of V2 tokens. */
  readonly fallenBack: ReadonlyArray<Fallback>
}
