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
   * How often the metrics of the token supply are updated between its events. At least 100 ms. Default: 5 seconds.
   */
  readonly sampleInterval?: Duration.DurationInput | undefined
  /**
   * More attributes of all series, which distinguish the supplies of several clients or tenants. Their names may have letters, digits,
   * underscores and dots. Default: none.
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
 * Keeps Effect's metrics about the supply of tokens, and about the calls with its tokens, up to date. An exporter sends them: `Otlp` or
 * `NodeSdk` of `@effect/opentelemetry`, or `Prometheus` of this package.
 *
 * The series show the environment, the client id, the version and the server. Supplies for which these are the same share their series, and
 * gauges show the supply that was built last. Set `attributes` to distinguish them. Use one such layer per supply, because each layer counts
 * every event.
 *
 * Provide the exporter to this layer instead of merging the two, so that the exporter sends the last values when the program ends.
 *
 * For several tenants, wrap the whole layer of each one in `Layer.fresh`, because Effect would build a const like the one below once for all
 * of them.
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
      // one update that fails must not end the next ones
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
