import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiError from "@effect/platform/HttpApiError"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as AdminApi from "../../AdminApi.ts"
import type * as Simulator from "../../Simulator.ts"
import * as control from "./control.ts"
import { isSame } from "./key.ts"
import { withoutValues } from "./rejection.ts"
import * as views from "./views.ts"

/** The admin API of a simulator as an app. */
export const make = (simulator: Simulator.Service, key: Redacted.Redacted) => {
  const reading = HttpApiBuilder.group(AdminApi.AdminApi, "read", (handlers) =>
    handlers
      .handle("state", () => views.state(simulator))
      .handle("requests", () =>
        Effect.flatMap(
          simulator.received,
          Effect.forEach((received) => views.request(simulator, received))
        ))
      .handle("tokens", () => Effect.map(simulator.tokens, (all) => all.map(views.token))))

  const controlling = HttpApiBuilder.group(AdminApi.AdminApi, "control", (handlers) =>
    handlers
      .handle("addFault", ({ payload }) => control.addFault(simulator, payload))
      .handle("clearFaults", () => simulator.clearFaults)
      .handle("revokeToken", ({ path }) =>
        Effect.flatMap(
          simulator.revokeTokenById(path.id),
          (found) => found ? Effect.void : Effect.fail(new HttpApiError.NotFound())
        ))
      .handle("revokeTokens", () => simulator.revokeTokens)
      .handle("grantScopes", ({ payload }) => simulator.grantScopes(payload.scopes))
      .handle("rotateSecret", () => Effect.asVoid(simulator.rotateSecret))
      .handle("advanceClock", ({ payload }) => simulator.advanceClock(Duration.seconds(payload.seconds)))
      .handle("addFixture", ({ payload }) => control.addFixture(simulator, payload))
      .handle("clearFixtures", () => simulator.setFixtures([]))
      .handle("variables", () => control.variables(simulator))
      .handle("reset", () => simulator.reset))

  const checkKey = Layer.succeed(AdminApi.Key, {
    key: (given) => isSame(given, key) ? Effect.void : Effect.fail(new HttpApiError.Unauthorized())
  })

  return Effect.flatMap(
    Layer.build(
      HttpApiBuilder.middlewareOpenApi({ path: "/api/openapi.json" }).pipe(
        Layer.provideMerge(HttpApiBuilder.api(AdminApi.AdminApi)),
        Layer.provide([reading, controlling]),
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
