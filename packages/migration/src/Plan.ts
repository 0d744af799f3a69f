/**
 * The plan of a migration: which version's tokens are used.
 *
 * @since 1.0.0
 */
import { Source as Sources } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import { noFallback } from "./internal/noFallback.ts"

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
}

/**
 * Where a migration reads its plan from: an effect that needs no service, or a service (`from`).
 *
 * @since 1.0.0
 * @category models
 */
export type Source<E, R> = Sources.Source<Plan, E, R>

/**
 * A plan that is read with a service, such as feature flags or a file system. Uses of a migration share it where this service is the same
 * object.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { AuthV1 } from "@credit-data/auth-v1"
 * import { AuthV2 } from "@credit-data/auth-v2"
 * import { Migration, Plan } from "@credit-data/migration"
 * import { Context, Effect } from "effect"
 *
 * class Flags extends Context.Tag("my-service/Flags")<Flags, {
 *   readonly stage: (flag: string) => Effect.Effect<Plan.Stage>
 * }>() {}
 *
 * export const Auth = Migration.layer({
 *   v1: AuthV1.layerConfig(),
 *   v2: AuthV2.layerConfig(),
 *   plan: Plan.from(Flags, (flags) => Effect.map(flags.stage("auth"), (stage) => ({ stage })))
 * })
 * ```
 */
export const from: <I, S, E>(
  service: Sources.Tag<I, S>,
  read: (service: S) => Effect.Effect<Plan, E>
) => Sources.FromService<Plan, E, I> = Sources.fromService

/**
 * The variables of the plan. A wrong value is a `ConfigError` that names the accepted ones.
 *
 * | field | variable | values |
 * | --- | --- | --- |
 * | `stage` | `CREDIT_DATA_AUTH` | `v1`, `shadow`, `v2`; required |
 * | `fallback` | `CREDIT_DATA_AUTH_FALLBACK` | none: it is refused |
 *
 * @since 1.0.0
 * @category config
 */
export const config = {
  stage: Variables.literal("CREDIT_DATA_AUTH", {
    description: "the stage of the migration",
    values: ["v1", "shadow", "v2"]
  }),
  fallback: Config.withDefault(
    Variables.redacted("CREDIT_DATA_AUTH_FALLBACK", { description: "no longer used", problem: () => noFallback }),
    undefined
  )
}

/**
 * Reads the plan from the variables of `config`.
 *
 * @since 1.0.0
 * @category config
 */
export const read: Effect.Effect<Plan, ConfigError.ConfigError> = Effect.map(
  Variables.read(config),
  ({ stage }) => ({ stage })
)
