import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiError from "@effect/platform/HttpApiError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as AdminApi from "../../AdminApi.ts"
import type * as Simulator from "../../Simulator.ts"
import * as control from "./control.ts"
import * as views from "./views.ts"

/** The endpoints that read. */
export const reading = (simulator: Simulator.Service) =>
  HttpApiBuilder.group(AdminApi.AdminApi, "read", (handlers) =>
    handlers
      .handle("state", () => views.state(simulator))
      .handle("requests", () =>
        Effect.flatMap(
          simulator.received,
          Effect.forEach((received) => views.request(simulator, received))
        ))
      .handle("tokens", () => Effect.map(simulator.tokens, (all) => all.map(views.token))))

/** The endpoints that change or reveal something. */
export const controlling = (simulator: Simulator.Service) =>
  HttpApiBuilder.group(AdminApi.AdminApi, "control", (handlers) =>
    handlers
      .handle("addFault", ({ payload }) => control.addFault(simulator, payload))
      .handle("clearFaults", () => simulator.clearFaults)
      .handle("revokeToken", (request) =>
        Effect.flatMap(
          simulator.revokeTokenById(request.path.id),
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
