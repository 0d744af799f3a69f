import { AccessToken, AccessTokens, TokenEndpoint } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Either, Fiber, Layer, Redacted, TestClock } from "effect"
import { environment, textOf } from "./support/fakeEndpoint.ts"

/** A supply over a token endpoint that returns tokens requested earlier, as a shared store does. */
const setUp = Effect.fnUntraced(function*(life: { readonly from: number; readonly to: number }, latency = 0) {
  let requests = 0
  const endpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
    environment,
    url: "https://v2.example/oauth2/token",
    requestedScopes: [],
    deadline: Duration.seconds(10),
    requestToken: Effect.fnUntraced(function*() {
      const text = `token-${++requests}`
      const now = yield* DateTime.now
      yield* Effect.sleep(latency)
      return new AccessToken.AccessToken({
        secret: Redacted.make(text),
        scopes: [],
        requestedAt: DateTime.unsafeMake(DateTime.toEpochMillis(now) + life.from),
        expiresAt: DateTime.unsafeMake(DateTime.toEpochMillis(now) + life.to),
        covered: ["data-access:all", "furnishment:all", "serviceplus:all"]
      })
    })
  })
  yield* TestClock.adjust("1 day")
  const context = yield* Layer.build(
    AccessTokens.layer({ renewalWindow: { from: 0.8, to: 0.8 } }).pipe(Layer.provide(endpoint))
  )
  const tokens = yield* Effect.provide(AccessTokens.AccessTokens, context)
  const get = Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.either(tokens.get))
    yield* TestClock.adjust(latency)
    return yield* Fiber.join(fiber)
  })
  return { get, tokens, requests: () => requests }
})

const minutes = (count: number) => count * 60_000

describe("the life of a token that was requested before the supply got it", () => {
  it.scoped("the life of a token counts from its own requestedAt and expiresAt", () =>
    Effect.gen(function*() {
      const { get, requests, tokens } = yield* setUp({ from: -minutes(50), to: minutes(50) })
      yield* get
      const phase = Effect.map(tokens.status, ({ phase }) => phase)
      yield* TestClock.adjust(minutes(30) - 1)
      assert.strictEqual(yield* phase, "Valid")
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* phase, "Due", "at 80 % of its whole life")
      yield* TestClock.adjust(minutes(20) - 5_000)
      assert.strictEqual(yield* phase, "Expiring")
      yield* TestClock.adjust(5_000)
      assert.strictEqual(yield* phase, "Expired")
      assert.strictEqual(requests(), 1)
    }))

  it.scoped("a rejected token that another process requested long ago is replaced at once, though one was replaced just now", () =>
    Effect.gen(function*() {
      const texts = Effect.fnUntraced(function*(from: number) {
        const { get, tokens } = yield* setUp({ from, to: minutes(300) })
        const seen: Array<string> = []
        for (let call = 0; call < 3; call++) {
          const token = Either.getOrThrow(yield* get)
          seen.push(textOf(token))
          yield* tokens.invalidate(token)
        }
        return seen
      })
      assert.deepStrictEqual(yield* texts(-minutes(30)), ["token-1", "token-2", "token-3"])
      assert.deepStrictEqual(yield* texts(0), ["token-1", "token-2", "token-2"])
    }))

  it.scoped("a slow token endpoint does not extend the life of a token", () =>
    Effect.gen(function*() {
      const { get, tokens } = yield* setUp({ from: 0, to: minutes(1) }, 9_000)
      yield* get
      yield* TestClock.adjust(minutes(1) - 9_000 - 1)
      assert.strictEqual((yield* tokens.status).phase, "Expiring")
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* tokens.status).phase, "Expired")
    }))

  it.scoped("a token that has expired on arrival is a retryable failure, and is not requested by every caller", () =>
    Effect.gen(function*() {
      const { requests, tokens } = yield* setUp({ from: -minutes(2), to: 0 })
      const caller = yield* Effect.fork(Effect.flip(tokens.get))
      for (let second = 0; second < 3; second++) yield* TestClock.adjust("1 second")
      const error = yield* Fiber.join(caller)
      assert.deepInclude({ ...error }, { _tag: "InvalidResponse", rule: "Expired" })
      assert.isTrue(error.retryable)
      for (let call = 0; call < 100; call++) yield* Effect.ignore(tokens.get)
      assert.strictEqual(requests(), 3)
    }))

  it.scoped("a token that was requested just now is returned unchanged", () =>
    Effect.gen(function*() {
      const { get } = yield* setUp({ from: 0, to: minutes(60) })
      assert.strictEqual(textOf(Either.getOrThrow(yield* get)), "token-1")
    }))
})
