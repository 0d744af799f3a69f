import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { Clock, DateTime, Duration, Effect, Either, Layer, Logger, Option } from "effect"
import * as Draw from "./draw.ts"
import * as Endpoint from "./endpoint.ts"
import { deadline, hour, type Result, type Scenario, startOf } from "./scenario.ts"
import * as VirtualTime from "./virtualTime.ts"

/** A caller comes at least this often, even when the supply announces no request. */
const longestAbsence = 6 * hour

/** The endpoint of the simulation, as the port that a real supply calls. */
const portOf = (endpoint: Endpoint.Endpoint) =>
  Layer.succeed(TokenEndpoint.TokenEndpoint, {
    environment: {
      name: Endpoint.where.environment,
      audience: "simulation",
      baseUrl: "https://api.simulation.example"
    },
    url: Endpoint.where.tokenEndpoint,
    requestedScopes: [],
    deadline: Duration.millis(deadline),
    requestToken: Effect.fnUntraced(function*(replaces) {
      const now = yield* Clock.currentTimeMillis
      const response = endpoint.ask(now, replaces)
      yield* Effect.sleep(response.at - now)
      return yield* response.outcome
    })
  })

/** Calls whenever the supply's result may change: when it announces a request, and when the token expires. */
const callForever = Effect.fnUntraced(function*(tokens: AccessTokens.Service, onFailure: () => void) {
  let polls = 0
  for (;;) {
    if (Either.isLeft(yield* Effect.either(tokens.get))) onFailure()
    const { expiresAt, nextRequestAt } = yield* tokens.status
    const now = yield* Clock.currentTimeMillis
    const changes = [nextRequestAt, expiresAt].map(Option.match({ onNone: () => now, onSome: DateTime.toEpochMillis }))
    const next = Math.min(now + longestAbsence, ...changes.filter((change) => change > now))
    // a request that is due is under way, or due within this millisecond
    const isUnderWay = Option.exists(nextRequestAt, (due) => DateTime.toEpochMillis(due) <= now)
    polls = isUnderWay ? polls + 1 : 0
    yield* Effect.sleep(isUnderWay ? Math.min(2 ** (polls - 1), 64) : next - now)
  }
})

/** Does what `Fleet.run` does, with real supplies under a virtual clock. They do not share a store. */
export const run = (scenario: Scenario, draw: Draw.Draw): Result => {
  const traffic = Endpoint.traffic(scenario)
  const endpoint = portOf(Endpoint.make(scenario, traffic))
  const affected = new Set<number>()
  const client = Effect.fnUntraced(function*(index: number) {
    const tokens = yield* AccessTokens.make({ renewalWindow: scenario.renewalWindow })
    yield* Effect.sleep(startOf(index, scenario))
    return yield* callForever(tokens, () => affected.add(index))
  })
  VirtualTime.make(scenario.duration).run(
    Effect.forEach(Array.from({ length: scenario.clients }, (_, index) => index), client, {
      concurrency: "unbounded",
      discard: true
    }).pipe(
      Effect.scoped,
      Effect.provide([endpoint, Logger.remove(Logger.defaultLogger)]),
      Effect.withRandom(Draw.service(draw))
    )
  )
  return { perSecond: traffic.perSecond, failures: traffic.failures, affected: affected.size }
}
