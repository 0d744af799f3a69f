import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as AdminApi from "./AdminApi.ts"
import type * as Simulator from "../../Simulator.ts"
import * as handlers from "./handlers.ts"
import { invalidKey } from "./invalidKey.ts"
import { isSame } from "./key.ts"
import { withoutValues } from "./rejection.ts"

/** The admin API of a simulator as an app. */
export const make = (simulator: Simulator.Service, key: Redacted.Redacted) => {
  const checkKey = Layer.succeed(AdminApi.Key, {
    key: (given) => isSame(given, key) ? Effect.void : Effect.fail(invalidKey)
  })

  return Effect.flatMap(
    Layer.build(
      HttpApiBuilder.middlewareOpenApi({ path: "/api/v1/openapi.json" }).pipe(
        Layer.provideMerge(HttpApiBuilder.api(AdminApi.AdminApi)),
        Layer.provide([handlers.reading(simulator), handlers.controlling(simulator)]),
        Layer.provide(checkKey),
        Layer.provideMerge(Layer.mergeAll(
          HttpApiBuilder.Router.Live,
          HttpApiBuilder.Middleware.layer,
          NodeHttpServer.layerContext
        ))
      )
    ),
    (context) =>
      Effect.map(
        Effect.provide(HttpApiBuilder.httpApp, context),
        (app) =>
          Effect.provide(app, context).pipe(
            Effect.catchAllCause((cause) => Effect.map(HttpServerError.causeResponse(cause), ([response]) => response)),
            Effect.map(withoutValues)
          )
      )
  )
}
