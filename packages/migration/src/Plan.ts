/**
 * The plan of a migration: which version's tokens are used.
 *
 * @since 1.0.0
 */
import * as Variables from "@credit-data/core/Variables"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"

/**
 * The stages of a migration, in their order. `v1`: V1 tokens are used. `shadow`: V1 tokens are used, and V2 tokens are requested in the
 * background, only to find out whether V2 issues them. `v2`: V2 tokens are used.
 *
 * @since 1.0.0
 * @category models
 */
export type Stage = "v1" | "shadow" | "v2"

/**
 * What a migration does now.
 *
 * @since 1.0.0
 * @category models
 */
export interface Plan {
  readonly stage: Stage
  /**
   * In the stage `v2`, an endpoint group uses V1 tokens while Auth V2 issues no token, or none with the group's scope. A call whose V2
   * tokens the API rejects is sent again with a V1 token.
   */
  readonly fallback: boolean
}

/**
 * The variables of the plan. A wrong value is a `ConfigError` that names the accepted ones.
 *
 * | field | variable | values |
 * | --- | --- | --- |
 * | `stage` | `CREDIT_DATA_AUTH` | `v1`, `shadow`, `v2`; required |
 * | `fallback` | `CREDIT_DATA_AUTH_FALLBACK` | `v1`, `none` (default) |
 *
 * @since 1.0.0
 * @category config
 */
export const config = {
  stage: Variables.literal("CREDIT_DATA_AUTH", {
    description: "the stage of the migration",
    values: ["v1", "shadow", "v2"]
  }),
  fallback: Variables.literal("CREDIT_DATA_AUTH_FALLBACK", {
    description: "the version that is used when Auth V2 issues no token",
    values: ["v1", "none"]
  }).pipe(Config.withDefault("none"))
} satisfies { readonly stage: Config.Config<Stage>; readonly fallback: Config.Config<"v1" | "none"> }

/**
 * Reads the plan from the variables of `config`.
 *
 * @since 1.0.0
 * @category config
 */
export const read: Effect.Effect<Plan, ConfigError.ConfigError> = Effect.map(
  Variables.read(config),
  ({ fallback, stage }) => ({ stage, fallback: fallback === "v1" })
)
