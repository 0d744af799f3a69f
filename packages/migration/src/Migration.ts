/**
 * The migration of a program from Auth V1 to Auth V2, in steps.
 *
 * @since 1.0.0
 */
import * as AuthV1 from "@credit-data/auth-v1/AuthV1"
import * as AuthV2 from "@credit-data/auth-v2/AuthV2"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import type { TokenError } from "@credit-data/core/TokenError"
import { sharedLayer, Source } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Comparison from "./Comparison.ts"
import * as CurrentPlan from "./internal/currentPlan.ts"
import * as migration from "./internal/migration.ts"
import type { MigrationReport } from "./MigrationReport.ts"
import * as Plan from "./Plan.ts"

/**
 * A running migration.
 *
 * @since 1.0.0
 * @category services
 * @example
 * ```ts
 * import { Migration } from "@credit-data/migration"
 * import { Effect } from "effect"
 *
 * export const report = Effect.flatMap(Migration.Migration, ({ report }) => report)
 * ```
 */
export class Migration extends Context.Tag("@credit-data/migration/Migration")<Migration, Service>() {}

/**
 * Access to a running migration.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The supply over both versions: the service `AccessTokens` of the same layer. */
  readonly tokens: AccessTokens.Service
  /** The plan in use. Reads it again if the last reading is older than `planInterval`. */
  readonly plan: Effect.Effect<Plan.Plan>
  /** What has happened so far. */
  readonly report: Effect.Effect<MigrationReport>
  /** Compares both versions now, in any stage: see `Comparison.compare`. */
  readonly compare: (
    probes?: ReadonlyArray<Comparison.Probe>
  ) => Effect.Effect<Comparison.Comparison, TokenError | ConfigError.ConfigError>
}

class V1 extends Context.Tag("@credit-data/migration/V1")<V1, AccessTokens.Service>() {}
class V2 extends Context.Tag("@credit-data/migration/V2")<V2, AccessTokens.Service>() {}

/**
 * The options of a migration.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options<E1, R1, E2, R2, E = never, R = never> {
  /** The supply of Auth V1. Use the same const for an endpoint group that does not migrate. */
  readonly v1: Layer.Layer<AccessTokens.AccessTokens, E1, R1>
  /** The supply of Auth V2. */
  readonly v2: Layer.Layer<AccessTokens.AccessTokens, E2, R2>
  /** Reads the plan, from variables (`Plan.read`) or from a service of feature flags (`Plan.from`), for example. */
  readonly plan: Plan.Source<E, R>
  /** The minimum interval between two reads of the plan. Default: 10 seconds. */
  readonly planInterval?: Duration.DurationInput | undefined
}

/**
 * A supply over two others. The plan decides whose tokens are used, so the clients of the endpoint groups do not change.
 *
 * - The plan is read when the layer is built, and again while the supply is used: at most once per `planInterval`. A caller waits for it for
 *   at most 1 second. If re-reading fails, the previous plan remains in effect. A plan in a file or a service of feature flags is therefore
 *   changed, and changed back, without a restart.
 * - `v1`: V1 tokens are used, and nothing is sent to Auth V2. `shadow`: V1 tokens are used, and tokens are obtained from Auth
 *   V2 in the background. Callers never see their failures. `v2`: V2 tokens are used.
 * - A rejected token is replaced by the version that issued it, unless the plan has changed since.
 * - `status` describes the version in use, with the counts of both. `events` come from both. For metrics of each version,
 *   provide one `Telemetry.layer()` to each of `v1` and `v2`.
 * - The HttpClient sends the probes of `compare`.
 *
 * Building the layer builds both supplies. It fails with their errors, with the failure of the plan, or with a `ConfigError` if
 * `planInterval` is not valid or if the two have different base URLs or audiences.
 *
 * A layer is shared by reference, where its sources are the same objects. Bind the layer to a const.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AuthV1 } from "@credit-data/auth-v1"
 * import { AuthV2 } from "@credit-data/auth-v2"
 * import { DataAccess, Furnishment } from "@credit-data/http-client"
 * import { Migration, Plan } from "@credit-data/migration"
 * import { Layer } from "effect"
 *
 * const V1 = AuthV1.layerConfig()
 * const Auth = Migration.layer({ v1: V1, v2: AuthV2.layerConfig(), plan: Plan.read })
 *
 * // Data Access stays on V1, and Furnishment migrates. Both share one supply of V1.
 * export const Clients = Layer.merge(
 *   DataAccess.layer().pipe(Layer.provide(V1)),
 *   Furnishment.layer().pipe(Layer.provide(Auth))
 * )
 * ```
 */
export const layer = <E1, R1, E2, R2, E = never, R = never>(
  { plan, planInterval = "10 seconds", v1, v2 }: Options<E1, R1, E2, R2, E, R>
): Layer.Layer<
  AccessTokens.AccessTokens | Migration,
  E1 | E2 | E | ConfigError.ConfigError,
  R1 | R2 | R | HttpClient.HttpClient
> => {
  const over = sharedLayer(() =>
    Layer.scopedContext(Effect.gen(function*() {
      const service = yield* migration.make({
        plan: yield* CurrentPlan.make(plan, planInterval),
        client: yield* HttpClient.HttpClient,
        v1: yield* V1,
        v2: yield* V2
      })
      return Context.add(Context.make(Migration, service), AccessTokens.AccessTokens, service.tokens)
    })), { services: [V1, V2, HttpClient.HttpClient, ...Source.servicesOf(plan)] })
  return Layer.fresh(Layer.provide(over, [
    Layer.provide(Layer.effect(V1, AccessTokens.AccessTokens), v1),
    Layer.provide(Layer.effect(V2, AccessTokens.AccessTokens), v2)
  ]))
}

/**
 * The migration of `AuthV1.layerConfig()` to `AuthV2.layerConfig()`, with the plan of the variable `CREDIT_DATA_AUTH`. The required variables of both versions must be set. `CREDIT_DATA_AUTH` is required too, so that a
 * forgotten variable cannot silently select a version.
 *
 * Building the layer fails with one `ConfigError`, which has a line for each faulty variable.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { Migration } from "@credit-data/migration"
 *
 * export const Auth = Migration.layerConfig() // was: AuthV1.layerConfig()
 * ```
 */
export const layerConfig = (
  settings: AuthV2.Settings = {}
): Layer.Layer<AccessTokens.AccessTokens | Migration, ConfigError.ConfigError, HttpClient.HttpClient> => {
  const both = layer({ v1: AuthV1.layerConfig(settings), v2: AuthV2.layerConfig(settings), plan: Plan.read })
  // so that one error lists everything that is missing
  const variables = Variables.read({ ...AuthV1.config, ...AuthV2.config, ...Plan.config })
  return Layer.fresh(Layer.unwrapEffect(Effect.as(variables, both)))
}
