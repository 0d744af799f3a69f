/**
 * What has happened in a migration so far.
 *
 * @since 1.0.0
 */
import type { TokenStatus } from "@credit-data/core/TokenStatus"
import type { Plan } from "./Plan.ts"

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
}
