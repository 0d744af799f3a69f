/**
 * The events of a migration.
 *
 * @since 1.0.0
 */
import type { TokenError } from "@credit-data/core/TokenError"
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import type { TokenFacts } from "./Comparison.ts"
import type { Plan } from "./Plan.ts"

/**
 * Why V1 tokens are used instead of V2 tokens. `Failed`: the token request failed. `Slow`: there was no token within
 * 2 seconds. `MissingScopes`: the token does not cover all requested scopes. `Rejected`: the business API rejected a token and, within
 * 30 seconds, its replacement (401); Auth V2 is not tried for 5 minutes.
 *
 * @since 1.0.0
 * @category models
 */
export type FallbackReason = Data.TaggedEnum<{
  Failed: { readonly error: TokenError }
  Slow: {}
  MissingScopes: { readonly scopes: ReadonlyArray<string> }
  Rejected: {}
}>

/**
 * Constructors of the reasons, with `$is` and `$match`.
 *
 * @since 1.0.0
 * @category constructors
 */
export const FallbackReason = Data.taggedEnum<FallbackReason>()

/**
 * A change in a migration; safe to print. `PlanChanged`: the plan was read again, and it has changed. `Compared`: the stage
 * `shadow` has obtained a new token from Auth V2, and the facts about it and the V1 token in use. `FellBack`: from now on, V1
 * tokens are used instead of V2 tokens. `Returned`: V2 tokens are used again.
 *
 * @since 1.0.0
 * @category models
 */
export type MigrationEvent = Data.TaggedEnum<{
  PlanChanged: { readonly at: DateTime.Utc; readonly from: Plan; readonly to: Plan }
  Compared: { readonly at: DateTime.Utc; readonly v1: TokenFacts; readonly v2: TokenFacts }
  FellBack: { readonly at: DateTime.Utc; readonly reason: FallbackReason }
  Returned: { readonly at: DateTime.Utc }
}>

/**
 * Constructors of the events, with `$is` and `$match`.
 *
 * @since 1.0.0
 * @category constructors
 */
export const { $is, $match, Compared, FellBack, PlanChanged, Returned } = Data.taggedEnum<MigrationEvent>()
