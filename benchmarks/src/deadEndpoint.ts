import { AccessTokens } from "@credit-data/core"
import { Effect, Layer, Schedule, TestClock, TestContext } from "effect"
import { dead, endpoint } from "./endpoint.ts"
import type { Measurement } from "./report.ts"

/** The token requests to an endpoint that is down for 10 minutes of virtual time, without a token, at 10 calls a second. */
export const deadEndpoint: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.suspend(() => {
  let calls = 0
  let requests = 0
  const counted = endpoint(() => {
    requests++
    return Effect.fail(dead)
  })
  return Effect.gen(function*() {
    const tokens = yield* AccessTokens.AccessTokens
    const call = Effect.suspend(() => {
      calls++
      return Effect.ignore(tokens.get)
    })
    yield* Effect.fork(Effect.repeat(Effect.forkDaemon(call), Schedule.spaced("100 millis")))
    yield* TestClock.adjust("10 minutes")
    const what = "dead for 10 minutes, 10 calls a second"
    return [{ what, value: calls, unit: "calls" }, { what, value: requests, unit: "token requests", atMost: 40 }]
  }).pipe(
    Effect.provide(AccessTokens.layer().pipe(Layer.provide(counted)))
  )
}).pipe(Effect.provide(TestContext.TestContext))
