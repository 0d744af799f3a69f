import { AccessTokens } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, TestClock } from "effect"
import { failures } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

/** 200 calls a second for some seconds. */
const load = (tokens: AccessTokens.Service, seconds: number) =>
  Effect.gen(function*() {
    let failed = 0
    let expired = 0
    const call = Effect.gen(function*() {
      const outcome = yield* Effect.exit(tokens.get)
      if (Exit.isFailure(outcome)) failed++
      else if (outcome.value.isExpiredAt(yield* DateTime.now)) expired++
    })
    for (let step = 0; step < 20 * seconds; step++) {
      yield* Effect.replicateEffect(Effect.forkScoped(call), 10)
      yield* TestClock.adjust("50 millis")
    }
    return { failed, expired }
  })

// the benchmarks shortLifetime and failingRenewal also measure how many calls are slow
describe("200 calls a second", () => {
  it.scoped("with tokens of 2 seconds cause one request per lifetime, and get no expired token", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make({ lifetime: "2 seconds", latency: "50 millis" })
      assert.deepStrictEqual(yield* load(tokens, 6), { failed: 0, expired: 0 })
      assert.isAtMost(yield* endpoint.requests, 5)
    }))

  it.scoped("while the renewal fails cause one request per pause, and no call fails", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make({
        lifetime: "50 seconds",
        settings: { renewalWindow: { from: 0.02, to: 0.02 } }
      })
      yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("1 second")
      yield* endpoint.fail(failures.unavailable)
      assert.deepStrictEqual(yield* load(tokens, 3), { failed: 0, expired: 0 })
      assert.isAtMost(yield* endpoint.requests, 4)
    }))
})
