import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiError from "@effect/platform/HttpApiError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as AdminApi from "./AdminApi.ts"
import type { Received } from "../../Received.ts"
import type * as Simulator from "../../Simulator.ts"
import * as control from "./control.ts"
import { search } from "./search.ts"
import * as views from "./views.ts"

// What the requests of the admin API do.

const listed = (simulator: Simulator.Service) =>
  Effect.forEach((received: Received) => views.request(simulator, received))

const orNotFound = (found: Effect.Effect<boolean>) =>
  Effect.flatMap(found, (found) => found ? Effect.void : Effect.fail(new HttpApiError.NotFound()))

/** The endpoints that read. */
export const reading = (simulator: Simulator.Service) =>
  HttpApiBuilder.group(AdminApi.AdminApi, "read", (handlers) =>
    handlers
      .handle("state", () => views.state(simulator))
      .handle("requests", () => Effect.flatMap(simulator.received, listed(simulator)))
      .handle("search", (request) => search(simulator, request.urlParams.text))
      .handle("request", (request) =>
        Effect.flatMap(simulator.received, (all) => {
          const received = all.find(({ id }) => id === request.path.id)
          return received === undefined ? Effect.fail(new HttpApiError.NotFound()) : views.detail(simulator, received)
        }))
      .handle("tokens", () => Effect.map(simulator.tokens, (all) => all.map(views.token))))

/** The endpoints that change or reveal something. */
export const controlling = (simulator: Simulator.Service) =>
  HttpApiBuilder.group(AdminApi.AdminApi, "control", (handlers) =>
    handlers
      .handle("addFault", ({ payload }) => control.addFault(simulator, payload))
      .handle("removeFault", (request) => orNotFound(simulator.removeFault(request.path.id)))
      .handle("clearFaults", () => simulator.clearFaults)
      .handle("revokeToken", (request) => orNotFound(simulator.revokeTokenById(request.path.id)))
      .handle("revokeTokens", () => simulator.revokeTokens)
      .handle("grantScopes", ({ payload }) => simulator.grantScopes(payload.scopes))
      .handle("rotateSecret", () => Effect.asVoid(simulator.rotateSecret))
      .handle("advanceClock", ({ payload }) => simulator.advanceClock(Duration.seconds(payload.seconds)))
      .handle("addFixture", ({ payload }) => control.addFixture(simulator, payload))
      .handle("removeFixture", ({ payload }) => orNotFound(control.removeFixture(simulator, payload)))
      .handle("clearFixtures", () => simulator.setFixtures([]))
      .handle("variables", () => control.variables(simulator))
      .handle("reset", () => simulator.reset))
