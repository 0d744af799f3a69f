import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as AdminApi from "./AdminApi.ts"
import type * as Fault from "../../Fault.ts"
import type * as Fixture from "../../Fixture.ts"
import type * as IssuedToken from "../../IssuedToken.ts"
import type * as Received from "../../Received.ts"
import type * as Simulator from "../../Simulator.ts"
import * as Visible from "../visible.ts"

const ended = (outcome: Received.Outcome) => outcome._tag === "Pending" ? null : Duration.toMillis(outcome.duration)

/** A request as the admin API lists it. */
export const request = (
  simulator: Simulator.Service,
  received: Received.Received
): Effect.Effect<typeof AdminApi.Request.Type> => {
  const { fault, id, issuedToken, method, ordinal, outcome, receivedAt, server, token } = received
  return Effect.map(Visible.url(simulator, received), (url) => ({
    id,
    server,
    ordinal,
    receivedAt,
    method,
    url,
    token: Option.getOrNull(token),
    issuedToken: Option.getOrNull(issuedToken),
    fault: Option.getOrNull(fault),
    status: outcome._tag === "Responded" ? outcome.status : null,
    error: outcome._tag === "Responded" ? Option.getOrNull(outcome.error) : null,
    milliseconds: ended(outcome)
  }))
}

/** A request with everything that the admin API shows of it. */
export const detail = (
  simulator: Simulator.Service,
  received: Received.Received
): Effect.Effect<typeof AdminApi.RequestDetail.Type> =>
  Effect.zipWith(
    request(simulator, received),
    Visible.request(simulator, received),
    (summary, { body, headers }) => ({
      ...summary,
      headers,
      body,
      response: Option.getOrNull(Visible.response(simulator, received))
    })
  )

/** A token as the admin API shows it: it has no secret. */
export const token = (issued: IssuedToken.IssuedToken): typeof AdminApi.Token.Type => issued

const finite = (value: number) => Number.isFinite(value) ? value : null

/** A pending fault without its headers and bytes, which can contain anything. */
const pending = (
  mask: (text: string) => string,
  { fault, headers = {}, id, method, path, percent, remaining, target }: Fault.Pending
): typeof AdminApi.PendingFault.Type => {
  const only = [method, path, ...Object.keys(headers), percent === undefined ? undefined : `${percent} %`]
    .filter((text) => text !== undefined)
  return {
    id,
    target,
    fault: fault._tag,
    status: fault._tag === "Response" ? finite(fault.status) : null,
    milliseconds: fault._tag === "Delay" ? finite(Duration.toMillis(Duration.decode(fault.duration))) : null,
    remaining: finite(remaining) ?? "unlimited",
    ...only.length === 0 ? {} : { only: mask(only.join(" ")) }
  }
}

/** The calls that a fixture responds to. */
export const selection = ({ mask }: Simulator.Service, { method, path, query }: Fixture.Fixture) => ({
  method,
  path: mask(path),
  ...query === undefined
    ? {}
    : { query: Object.fromEntries(Object.entries(query).map(([name, value]) => [mask(name), mask(value)])) }
})

/** The settings and counters as the admin API shows them. */
export const state = (simulator: Simulator.Service): Effect.Effect<typeof AdminApi.State.Type> =>
  Effect.gen(function*() {
    const { clientId } = yield* simulator.credentials
    const counts = yield* simulator.counts
    return {
      environment: simulator.environment,
      clientId,
      grantedScopes: yield* simulator.grantedScopes,
      now: yield* simulator.now,
      advanced: Duration.toMillis(yield* simulator.advanced),
      tokenRequests: yield* simulator.tokenRequests,
      calls: counts.Api,
      openConnections: yield* simulator.openConnections,
      faults: (yield* simulator.faults).map((fault) => pending(simulator.mask, fault)),
      // without headers and bodies, which can contain anything
      fixtures: (yield* simulator.fixtures).map((fixture) => ({
        ...selection(simulator, fixture),
        status: fixture.status,
        ...fixture.next === undefined ? {} : { next: fixture.next.map(({ status }) => status) }
      }))
    }
  })
