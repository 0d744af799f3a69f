import { HttpApiBuilder, HttpMiddleware, HttpServer, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Config, Effect, Layer } from "effect"
import { createServer } from "node:http"
import { ServiceApi } from "./api.ts"
import { Consumers } from "./consumers.ts"
import { CreditData } from "./creditData.ts"
import { Export, Metrics, Routes } from "./observability.ts"

const server = createServer()

const Server = NodeHttpServer.layerConfig(() => server, {
  port: Config.withDefault(Config.port("PORT"), 3000)
})

/** While the server closes, each response closes its connection, because Node does not close a connection with further requests. */
const Closing = HttpApiBuilder.middleware((app) =>
  Effect.map(
    app,
    (response) => server.listening ? response : HttpServerResponse.setHeader(response, "connection", "close")
  )
)

/** The service with its server, metrics and clients. It reads its variables when it is built. */
export const Service = HttpApiBuilder.serve().pipe(
  HttpServer.withLogAddress,
  Layer.provide([Routes, Closing]),
  Layer.provide(HttpApiBuilder.api(ServiceApi)),
  Layer.provide(Consumers),
  // closed in this order after SIGTERM: the server waits for its open requests, which still need tokens
  Layer.provide(Server),
  Layer.provide(Metrics),
  Layer.provide(CreditData),
  Layer.provide(Export),
  HttpMiddleware.withTracerDisabledWhen(() => true)
)
