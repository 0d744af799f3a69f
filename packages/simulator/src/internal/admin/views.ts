import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as AdminApi from "../../AdminApi.ts"
import type * as Fault from "../../Fault.ts"
import type * as IssuedToken from "../../IssuedToken.ts"
import type * as Received from "../../Received.ts"
import type * as Simulator from "../../Simulator.ts"
import { visible } from "../visible.ts"

const ended = (outcome: Received.Outcome) => outcome._tag === "Pending" ? null : Duration.toMillis(outcome.duration)

/** A request as the admin API shows it. */
export const request = (
  simulator: Simulator.Service,
  received: Received.Received
): Effect.Effect<typeof AdminApi.Request.Type> => {
  const { fault, id, method, outcome, receivedAt, server, token } = received
  return Effect.map(visible(simulator, received), ({ body, headers, url }) => ({
    id,
    server,
    receivedAt,
    method,
    url,
    headers,
    body,
    token: Option.getOrNull(token),
    fault: Option.getOrNull(fault),
    status: outcome._tag === "Responded" ? outcome.status : null,
    error: outcome._tag === "Responded" ? Option.getOrNull(outcome.error) : null,
    milliseconds: ended(outcome)
  }))
}

/** A token as the admin API shows it: it has no secret. */
export const token = (issued: IssuedToken.IssuedToken): typeof AdminApi.Token.Type => issued

const finite = (value: number) => Number.isFinite(value) ? value : null

/** A pending fault without its headers and bytes, which can contain anything. */
const pending = ({ fault, id, remaining, target }: Fault.Pending): typeof AdminApi.PendingFault.Type => ({
  id,
  target,
  fault: fault._tag,
  status: fault._tag === "Response" ? finite(fault.status) : null,
  milliseconds: fault._tag === "Delay" ? finite(Duration.toMillis(Duration.decode(fault.duration))) : null,
  remaining: finite(remaining) ?? "unlimited"
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
      faults: (yield* simulator.faults).map(pending),
      // without headers and bodies, which can contain anything
      fixtures: (yield* simulator.fixtures).map(({ method, path, status }) => ({
        method,
        path: simulator.mask(path),
        status
      }))
    }
  })
