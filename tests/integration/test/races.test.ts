import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { ForcedRenewalMillis } from "@credit-data/core/Internal"
import { Fault, Simulator } from "@credit-data/simulator"
import { runs } from "@credit-data/test-support/searches"
import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, DateTime, Effect, Fiber, Layer, Logger, Random, Ref } from "effect"

describe("races over a real server", () => {
  it.live("callers that are interrupted or invalidate cause one request at a time and get no expired token", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const gauge = yield* Ref.make({ now: 0, most: 0 })
      const enter = Ref.update(gauge, ({ most, now }) => ({ now: now + 1, most: Math.max(most, now + 1) }))
      const leave = Ref.update(gauge, ({ most, now }) => ({ now: now - 1, most }))
      const auth = AuthV2.layer({
        environment: simulator.environment,
        credentials: simulator.credentials,
        scopes: ["data-access:all"],
        transformClient: HttpClient.transformResponse((response) =>
          Effect.acquireUseRelease(enter, () => response, () => leave)
        )
      })
      yield* simulator.failTokenRequests(Fault.Delay({ duration: "5 millis" }), { times: 1_000 })
      yield* Effect.gen(function*() {
        const tokens = yield* AccessTokens.AccessTokens
        const caller = Effect.gen(function*() {
          yield* Effect.sleep(yield* Random.nextIntBetween(0, 2_500))
          const askedAt = yield* DateTime.now
          const fiber = yield* Effect.fork(tokens.get)
          const fate = yield* Random.nextIntBetween(0, 10)
          if (fate === 0) yield* Fiber.interrupt(fiber)
          if (fate === 0) return
          const token = yield* Fiber.join(fiber)
          // the token lives for one second, and a busy machine may take longer to resume this caller
          assert.isBelow(DateTime.distance(token.requestedAt, askedAt), 1_000, "an expired token")
          if (fate === 1) yield* tokens.invalidate(token)
        })
        yield* Effect.all(Arr.makeBy(runs(2_000).numRuns, () => caller), { concurrency: "unbounded", discard: true })
        const requests = yield* simulator.tokenRequests
        assert.isTrue(
          requests > 1 && requests < 200,
          `Expected some renewals, and not one for each caller, but got ${requests} requests`
        )
        assert.strictEqual((yield* Ref.get(gauge)).most, 1, "token requests at once")
      }).pipe(Effect.provide(auth), Effect.provideService(ForcedRenewalMillis, 20))
    }).pipe(
      Effect.provide(
        Layer.merge(Simulator.layer({ tokenLifetime: "1 second" }), NodeHttpClient.layer).pipe(
          Layer.provide(Logger.remove(Logger.defaultLogger))
        )
      )
    ))

  it.live("callers of a server that fails at random get a token or a typed failure, after fewer than 20 requests", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const faults = [
        Fault.Response({ status: 500 }),
        Fault.Reset(),
        Fault.Response({ status: 200, body: "{" }),
        Fault.Delay({ duration: "30 millis" })
      ]
      for (let index = 0; index < 200; index++) {
        yield* simulator.failTokenRequests(faults[yield* Random.nextIntBetween(0, faults.length)] ?? Fault.Reset())
      }
      const tokens = yield* AccessTokens.AccessTokens
      const caller = Effect.gen(function*() {
        yield* Effect.sleep(yield* Random.nextIntBetween(0, 1_500))
        return yield* Effect.either(tokens.get)
      })
      yield* Effect.all(Arr.makeBy(runs(3_000).numRuns, () => caller), { concurrency: "unbounded", discard: true })
      assert.isBelow(yield* simulator.tokenRequests, 20)
    }).pipe(Effect.provide(
      AuthV2.layerConfig().pipe(
        Layer.provide([NodeHttpClient.layer, Simulator.layerConfigProvider, Logger.remove(Logger.defaultLogger)]),
        Layer.provideMerge(Simulator.layer({ tokenLifetime: "1 second" }))
      )
    )))
})
