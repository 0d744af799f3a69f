/**
 * Metrics of the supply of access tokens.
 *
 * @since 1.0.0
 */
import * as AccessTokens from "@credit-data/core/AccessTokens"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Metrics from "./internal/metrics.ts"

/**
 * The optional settings of the metrics.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings {
  /**
   * How often the number of served tokens and of waiting callers is read. All other metrics change with the events of the supply.
   * Default: 5 seconds.
   */
  readonly sampleInterval?: Duration.DurationInput | undefined
}

/**
 * Keeps Effect's metrics about the supply of tokens up to date, for any exporter of metrics: `Otlp` and `NodeSdk` of
 * `@effect/opentelemetry`, or `Prometheus` of this package. A call updates no metric.
 *
 * All series have the attributes `credit_data.environment` and `server.address`, the host of the token endpoint. So the supplies of V1
 * and V2 can be told apart.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AccessTokens } from "@credit-data/core"
 * import { Prometheus, Telemetry } from "@credit-data/telemetry"
 * import { Effect, Layer } from "effect"
 *
 * const Tokens = Telemetry.layer().pipe(Layer.provideMerge(AccessTokens.layerTest()))
 *
 * export const metrics = Effect.provide(Prometheus.text, Tokens)
 * ```
 */
export const layer = (settings: Settings = {}): Layer.Layer<never, never, AccessTokens.AccessTokens> =>
  Layer.scopedDiscard(Effect.gen(function*() {
    const tokens = yield* AccessTokens.AccessTokens
    const before = yield* tokens.status
    const metrics = Metrics.make({
      "credit_data.environment": before.environment,
      "server.address": URL.canParse(before.tokenEndpoint)
        ? new URL(before.tokenEndpoint).hostname
        : before.tokenEndpoint
    })
    const sample = Effect.flatMap(tokens.status, metrics.sample)
    yield* Effect.forkScoped(Stream.runForEach(tokens.events, metrics.onEvent))
    // the listener has to listen before the first token request is sent
    yield* Effect.yieldNow()
    yield* Effect.flatMap(tokens.status, metrics.start)
    yield* Effect.forkScoped(Effect.forever(Effect.delay(sample, settings.sampleInterval ?? "5 seconds")))
    // an exporter sends the metrics for the last time after this
    yield* Effect.addFinalizer(() => sample)
  }))
