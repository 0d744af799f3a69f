/**
 * Metrics of the supply of access tokens.
 *
 * @since 1.0.0
 */
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { observeCalls, sharedLayer, shownClientId } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { recorder } from "./internal/calls.ts"
import { notUpdated } from "./internal/logLines.ts"
import * as Metrics from "./internal/metrics.ts"

/**
 * The optional settings of the metrics.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings {
  /**
   * How often the counts of returned tokens and waiting callers are read. All other metrics also change with the events of the
   * supply. At least 100 ms. Default: 5 seconds.
   */
  readonly sampleInterval?: Duration.DurationInput | undefined
  /**
   * More attributes of all series. They distinguish the supplies of several clients or tenants. Names as Prometheus accepts them,
   * with dots. Default: none.
   */
  readonly attributes?: Readonly<Record<string, string>> | undefined
}

const interval = (input: Duration.DurationInput) =>
  Option.filter(Duration.decodeUnknown(input), Duration.greaterThanOrEqualTo(Duration.millis(100))).pipe(
    Option.match({
      onNone: () => Effect.fail(Variables.invalid(["sampleInterval"], "Expected a duration of at least 100 ms")),
      onSome: Effect.succeed
    })
  )

/** Prometheus keeps names with two underscores in front for itself. A dot becomes an underscore. */
const attributeName = /^(?!__)[a-zA-Z_][\w.]*$/

const checked = (attributes: Readonly<Record<string, string>>) => {
  const wrong = Object.keys(attributes).find((name) => !attributeName.test(name))
  return wrong === undefined
    ? Effect.succeed(attributes)
    : Effect.fail(Variables.invalid(
      ["attributes", wrong],
      "Expected a name of letters, digits, dots and underscores that begins with a letter or with one underscore"
    ))
}

/**
 * Keeps Effect's metrics about the supply of tokens up to date, for any exporter of metrics: `Otlp` and `NodeSdk` of
 * `@effect/opentelemetry`, or `Prometheus` of this package. `http.client.request.duration` has the calls of the endpoint groups
 * that use the same supply, by group, method, path template and status, and `http.client.active_requests` those that have not ended.
 *
 * All series have the attributes `credit_data.environment`, `credit_data.client_id` (at most 64 characters of it), `credit_data.version`
 * (`V1` or `V2`) and `server.address` (the host of the token endpoint, or of the API for calls). Supplies with the same attributes share
 * their series: counters add them up, and gauges show the supply that was built last. Set `attributes` to distinguish them. Use one such
 * layer per supply, because each layer counts every event.
 *
 * Provide the exporter to this layer instead of merging the two, so that the exporter sends the last values when the program ends. The
 * layer keeps a timer until its scope is closed.
 *
 * Fails with a `ConfigError` if `sampleInterval` or the name of an attribute is not valid.
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
export const layer = (
  settings: Settings = {}
): Layer.Layer<never, ConfigError.ConfigError, AccessTokens.AccessTokens> =>
  sharedLayer(() =>
    Layer.scopedDiscard(Effect.gen(function*() {
      const sampleInterval = yield* interval(settings.sampleInterval ?? "5 seconds")
      const tokens = yield* AccessTokens.AccessTokens
      const attributes = yield* checked(settings.attributes ?? {})
      const { clientId, environment, requestedScopes, tokenEndpoint, version } = yield* tokens.status
      const labelsOf = (url: string) => ({
        ...attributes,
        "credit_data.environment": environment,
        ...(Option.isSome(clientId) ? { "credit_data.client_id": shownClientId(clientId.value) } : {}),
        ...(Option.isSome(version) ? { "credit_data.version": version.value } : {}),
        "server.address": URL.canParse(url) ? new URL(url).hostname : url
      })
      yield* observeCalls(tokens, recorder(labelsOf(tokens.environment.baseUrl)))
      const metrics = Metrics.make(labelsOf(tokenEndpoint), requestedScopes)
      // metrics that cannot be updated once are updated the next time
      const safely = (update: Effect.Effect<void>) => Effect.catchAllCause(update, notUpdated)
      const show = safely(Effect.flatMap(tokens.status, metrics.show))
      // runs after the fibers below have ended, and before an exporter sends the metrics for the last time
      yield* Effect.addFinalizer(() => Effect.zipRight(show, metrics.end))
      yield* Effect.forkScoped(
        Stream.runForEach(tokens.events, (event) =>
          safely(metrics.count(event)).pipe(
            Effect.zipRight(show),
            // callers still wait when the event of their request is published, and are gone a moment later
            Effect.zipRight(Effect.forkScoped(Effect.delay(show, "100 millis")))
          ))
      )
      // the listener has to listen before the first token request is sent
      yield* Effect.yieldNow()
      yield* Effect.zipRight(metrics.start, show)
      // Effect's metrics cannot be read through a function when they are exported
      yield* Effect.forkScoped(Effect.forever(Effect.delay(show, sampleInterval)))
    })), { services: [AccessTokens.AccessTokens] })
