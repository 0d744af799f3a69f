import { AccessTokens } from "@credit-data/core"
import { HealthCheck, Prometheus, Telemetry } from "@credit-data/telemetry"
import { Otlp } from "@effect/opentelemetry"
import { HttpApiBuilder } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Config, Effect, Layer, Logger, Option } from "effect"
import { randomUUID } from "node:crypto"

/** The routes for the orchestrator, and for a Prometheus that scrapes. */
export const Routes = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    const tokens = yield* AccessTokens.AccessTokens
    yield* router.get("/health/live", HealthCheck.live)
    yield* router.get("/health/ready", Effect.provideService(HealthCheck.ready, AccessTokens.AccessTokens, tokens))
    yield* router.get("/metrics", Prometheus.response)
  })
)

/** Log lines as JSON on standard output, for the collector of a container's output. */
export const Logs = Logger.json

/** Metrics of the supply of tokens. */
export const Metrics = Telemetry.layer()

/** Sends traces, metrics and logs to the collector at OTEL_EXPORTER_OTLP_ENDPOINT, if that variable is set. */
export const Export = Layer.unwrapEffect(
  Effect.map(
    Config.option(Config.url("OTEL_EXPORTER_OTLP_ENDPOINT")),
    Option.match({
      onNone: () => Layer.empty,
      onSome: (url) =>
        Otlp.layerProtobuf({
          baseUrl: url.href,
          // without its own id, two replicas would write to the same series
          resource: { serviceName: "consumer-service", attributes: { "service.instance.id": randomUUID() } },
          // a collector that does not respond delays the end of the program by this time
          shutdownTimeout: "1 second"
        }).pipe(Layer.provide(NodeHttpClient.layerUndici))
    })
  )
)
