import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as AdminApi from "../../AdminApi.ts"
import type * as Simulator from "../../Simulator.ts"
import * as control from "./control.ts"
import { isSame } from "./key.ts"
import { rejection } from "./rejection.ts"
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
      .handle("revokeToken", ({ params }) =>
        Effect.flatMap(
          simulator.revokeTokenById(params.id),
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
    key: (answer, { credential }) => isSame(credential, key) ? answer : Effect.fail(new HttpApiError.Unauthorized())
  })

  return Effect.map(
    HttpRouter.toHttpEffect(
      HttpApiBuilder.layer(AdminApi.AdminApi, { openapiPath: "/api/openapi.json" }).pipe(
        Layer.provide([reading, controlling]),
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
