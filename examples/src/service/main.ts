// A service to start from: it calls Data Access, checks its health, exports metrics, traces and logs, and ends gracefully.
//
// CREDIT_DATA_AUTH       v1 or v2, the version of the token endpoint. Default: v2.
// CREDIT_DATA_…          the variables of that version, such as CREDIT_DATA_CLIENT_ID.
// PORT                   the port of the service. Default: 3000.
// OTEL_EXPORTER_OTLP_ENDPOINT   the address of a collector. Without it, nothing is exported; /metrics is always there.

import { HttpApiBuilder, HttpMiddleware, HttpServer } from "@effect/platform"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Config, Layer } from "effect"
import { createServer } from "node:http"
import { ServiceApi } from "./api.ts"
import { Consumers } from "./consumers.ts"
import { CreditData } from "./creditData.ts"
import { Export, Metrics, Routes } from "./observability.ts"

const Server = NodeHttpServer.layerConfig(createServer, {
  port: Config.withDefault(Config.port("PORT"), 3000)
})

const Service = HttpApiBuilder.serve().pipe(
  HttpServer.withLogAddress,
  Layer.provide(Routes),
  Layer.provide(HttpApiBuilder.api(ServiceApi)),
  Layer.provide(Consumers),
  Layer.merge(Metrics),
  Layer.provide(CreditData),
  Layer.provide(Server),
  Layer.provide(Export),
  HttpMiddleware.withTracerDisabledWhen(() => true)
)

Service.pipe(Layer.launch, NodeRuntime.runMain)
