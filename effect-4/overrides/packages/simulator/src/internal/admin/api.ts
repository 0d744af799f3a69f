import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as AdminApi from "./AdminApi.ts"
import type * as Simulator from "../../Simulator.ts"
import * as handlers from "./handlers.ts"
import { invalidKey } from "./invalidKey.ts"
import { isSame } from "./key.ts"
import { rejection } from "./rejection.ts"

/** The admin API of a simulator as an app. */
export const make = (simulator: Simulator.Service, key: Redacted.Redacted) => {
  const checkKey = Layer.succeed(AdminApi.Key, {
    key: (handled, { credential }) => isSame(credential, key) ? handled : Effect.fail(invalidKey)
  })

  return Effect.map(
    HttpRouter.toHttpEffect(
      HttpApiBuilder.layer(AdminApi.AdminApi, { openapiPath: "/api/v1/openapi.json" }).pipe(
        Layer.provide([handlers.reading(simulator), handlers.controlling(simulator)]),
        Layer.provide(checkKey),
        Layer.provide(NodeHttpServer.layerHttpServices)
      )
    ),
    (app) =>
      Effect.catchCause(app, (cause) =>
        Effect.map(
          HttpServerError.causeResponse(cause),
          ([response]) => response.status === 400 ? rejection(Cause.squash(cause)) : response
        ))
  )
}
