import type { TokenError } from "@credit-data/core"
import { Instant, TokenState } from "@credit-data/core/Internal"
import { Either, Exit } from "effect"
import * as Draw from "./draw.ts"
import * as Endpoint from "./endpoint.ts"
import * as EventQueue from "./eventQueue.ts"
import { deadline, type Result, type Scenario, second, startOf } from "./scenario.ts"
import * as SharedStore from "./sharedStore.ts"

/** A process with a supply, and with callers at every moment. Only the calls that change something are events. */
interface Client {
  state: TokenState.State
  isAffected: boolean
}

/** When a flight ends, and how many retries it has left. */
interface Flight {
  readonly endsAt: Instant.Instant
  readonly retriesLeft: number
}

/** A supply waits this much longer for the first request of a flight, because the endpoint keeps its own deadline. */
const grace = second

const instant = (millis: number): Instant.Instant => ({
  wallMillis: millis,
  monotonicNanos: BigInt(millis) * 1_000_000n
})

/** The first full millisecond after now in which a call may get something else. */
const nextChange = ({ failure, newer }: TokenState.State, now: number): number => {
  let next = Number.POSITIVE_INFINITY
  for (const change of [newer?.dueAt, newer?.expiringAt, newer?.expiresAt, failure?.nextTryAt]) {
    if (change !== undefined && change.wallMillis > now) next = Math.min(next, Math.ceil(change.wallMillis))
  }
  return next
}

/** Simulates a fleet. Core makes the decisions, and this function only carries them out. */
export const run = (scenario: Scenario, draw: Draw.Draw): Result => {
  const queue = EventQueue.make<(now: number) => void>(scenario.duration)
  const traffic = Endpoint.traffic(scenario)
  const alone = Endpoint.make(scenario, traffic)
  const endpoint = scenario.isShared ? SharedStore.make(alone) : alone
  let affected = 0

  const call = (client: Client, now: Instant.Instant) => {
    const decision = TokenState.decide(client.state, now)
    if (decision._tag === "Wait" || decision._tag === "UseAndRenew") {
      const flight = { endsAt: instant(now.wallMillis + deadline), retriesLeft: TokenState.retries }
      return request(client, flight, now, flight.endsAt.wallMillis + grace)
    }
    if (decision._tag === "Settle" && !client.isAffected) {
      client.isAffected = true
      affected++
    }
    queue.add(nextChange(client.state, now.wallMillis), (at) => call(client, instant(at)))
  }

  const request = (client: Client, flight: Flight, sentAt: Instant.Instant, limit: number) => {
    const reason = TokenState.reason(client.state, sentAt)
    const dueShare = Draw.between(draw, scenario.renewalWindow.from, scenario.renewalWindow.to)
    const response = endpoint.ask(sentAt.wallMillis, reason)
    if (response.at >= limit) return queue.add(limit, (at) => fail(client, flight, Endpoint.timeout, instant(at)))
    queue.add(response.at, (at) => {
      if (Either.isLeft(response.outcome)) return fail(client, flight, response.outcome.left, instant(at))
      const options = { at: instant(at), dueShare, reason, requestedScopes: [], sentAt }
      client.state = TokenState.obtained(client.state, response.outcome.right, options)
      call(client, instant(at))
    })
  }

  const fail = (client: Client, flight: Flight, error: TokenError.TokenError, at: Instant.Instant) => {
    client.state = TokenState.failed(client.state, at)
    const { isRetried, pause } = TokenState.afterFailure(client.state, {
      error,
      at,
      deadlineAt: flight.endsAt,
      retriesLeft: flight.retriesLeft,
      random: draw.next()
    })
    if (isRetried) {
      const left = { endsAt: flight.endsAt, retriesLeft: flight.retriesLeft - 1 }
      return queue.add(
        at.wallMillis + pause,
        (retryAt) => request(client, left, instant(retryAt), flight.endsAt.wallMillis)
      )
    }
    client.state = TokenState.gaveUp(client.state, Exit.fail(error), Instant.later(at, pause), false)
    call(client, at)
  }

  const carryOut = (event: (now: number) => void, now: number) => event(now)
  // without a store and without a queue, clients do not affect each other, and a single client fits the caches of the processor
  const areIndependent = !scenario.isShared && scenario.capacity === undefined
  for (let index = 0; index < scenario.clients; index++) {
    const client: Client = { state: TokenState.none, isAffected: false }
    queue.add(startOf(index, scenario), (at) => call(client, instant(at)))
    if (areIndependent) queue.takeAll(carryOut)
  }
  queue.takeAll(carryOut)
  return { perSecond: traffic.perSecond, failures: traffic.failures, affected }
}
