import { AccessToken, AccessTokens, TokenEndpoint } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Cache, DateTime, Duration, Effect, Exit, Fiber, Layer, Redacted, TestClock } from "effect"

// what README.md says of 21 callers

const slowly = <A>(value: A) => Effect.delay(Effect.succeed(value), "1 second")

/** How many of 21 callers succeed when the first of them gives up while they wait. */
const succeed = (wait: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function*() {
    const callers = yield* Effect.replicateEffect(Effect.fork(wait), 21)
    yield* TestClock.adjust("100 millis")
    const [first] = callers
    if (first !== undefined) yield* Fiber.interrupt(first)
    yield* TestClock.adjust("10 seconds")
    const exits = yield* Effect.forEach(callers, Fiber.await)
    return exits.filter(Exit.isSuccess).length
  })

describe("the first of 21 waiting callers gives up", () => {
  it.scoped("and the other 20 get their token", () =>
    Effect.gen(function*() {
      const now = yield* DateTime.now
      const token = new AccessToken.AccessToken({
        secret: Redacted.make("token"),
        scopes: ["data-access:all"],
        requestedAt: now,
        expiresAt: DateTime.add(now, { hours: 24 })
      })
      const endpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
        environment: { name: "test", audience: "test", baseUrl: "https://api.example" },
        url: "https://v2.example",
        requestedScopes: ["data-access:all"],
        deadline: Duration.seconds(10),
        requestToken: () => slowly(token)
      })
      const context = yield* Layer.build(Layer.provide(AccessTokens.layer(), endpoint))
      const tokens = yield* Effect.provide(AccessTokens.AccessTokens, context)
      assert.strictEqual(yield* succeed(tokens.get), 20)
    }))

  it.scoped("and with a Cache of Effect 3, all 20 fail", () =>
    Effect.gen(function*() {
      const cache = yield* Cache.make({ capacity: 1, timeToLive: "1 hour", lookup: () => slowly("token") })
      assert.strictEqual(yield* succeed(cache.get("client")), 0)
    }))
})
