import { HttpApiBuilder, HttpMiddleware, HttpServer } from "@effect/platform"
import { Layer } from "effect"
import { ServiceApi } from "./api.ts"
import { Consumers } from "./consumers.ts"
import { CreditData } from "./creditData.ts"
import { Export, Metrics, Routes } from "./observability.ts"
import { Closing, Server } from "./server.ts"

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
