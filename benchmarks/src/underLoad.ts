import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { Fault, Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { DateTime, type Duration, Effect, Layer, Schedule } from "effect"
import type { Measurement } from "./report.ts"

/** Requests a token from the supply 200 times a second, and counts the outcomes. */
const load = (tokens: AccessTokens.Service, time: Duration.DurationInput) =>
  Effect.gen(function*() {
    let calls = 0
    let expired = 0
    let failed = 0
    let slow = 0
    const call = Effect.gen(function*() {
      calls++
      const start = performance.now()
      const result = yield* Effect.either(tokens.get)
      if (performance.now() - start > 20) slow++
      if (result._tag === "Left") failed++
      else if (result.right.isExpiredAt(yield* DateTime.now)) expired++
    })
    yield* Effect.forkScoped(call).pipe(Effect.schedule(Schedule.fixed("5 millis")), Effect.timeoutOption(time))
    return { calls, expired, failed, slow }
  }).pipe(Effect.scoped)

const supply = (settings: AuthV2.Settings) =>
  Layer.unwrapEffect(
    Effect.map(Simulator.Simulator, ({ credentials, environment }) =>
      AuthV2.layer({ ...settings, environment, credentials, scopes: ["data-access:all"] }))
  ).pipe(
    Layer.provide(NodeHttpClient.layer)
  )

/** Tokens that live for 2 s, under load for 6 s, from an endpoint that takes 50 ms. */
export const shortLifetime: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* simulator.failTokenRequests(Fault.Delay({ duration: "50 millis" }), { times: 1_000 })
  const tokens = yield* AccessTokens.AccessTokens
  yield* tokens.get
  const { calls, expired, slow } = yield* load(tokens, "6 seconds")
  const what = "lifetime 2 s, 200 calls a second for 6 s"
  return [
    { what, value: calls, unit: "calls" },
    { what, value: yield* simulator.tokenRequests, unit: "token requests", atMost: 5 },
    { what, value: expired, unit: "expired tokens", atMost: 0 },
    { what, value: slow, unit: "calls over 20 ms", atMost: 0 }
  ]
}).pipe(Effect.provide(Layer.provideMerge(supply({}), Simulator.layer({ tokenLifetime: "2 seconds" }))))

/** An endpoint that returns 500 for 3 s, while the token is valid and due for renewal. */
export const failingRenewal: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const tokens = yield* AccessTokens.AccessTokens
  yield* tokens.get
  yield* Effect.sleep("1 second")
  yield* simulator.failTokenRequests(Fault.Response({ status: 500 }), { times: 1_000 })
  const { calls, failed } = yield* load(tokens, "3 seconds")
  const what = "500 for 3 s while the token is valid, 200 calls a second"
  return [
    { what, value: calls, unit: "calls" },
    { what, value: (yield* simulator.tokenRequests) - 1, unit: "token requests", atMost: 3 },
    { what, value: failed, unit: "failed calls", atMost: 0 }
  ]
}).pipe(
  Effect.provide(
    Layer.provideMerge(
      supply({ renewalWindow: { from: 0.02, to: 0.02 } }),
      Simulator.layer({ tokenLifetime: "50 seconds" })
    )
  )
)
