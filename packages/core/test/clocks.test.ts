import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { type Clock, Deferred, Duration, Effect, Fiber, Layer } from "effect"
import { environment, failures, textOf, token } from "./support/fakeEndpoint.ts"
import { granted, json } from "./support/fakeTransport.ts"
import * as TokenEndpointOver from "./support/tokenEndpoint.ts"
import * as TwoClocks from "./support/twoClocks.ts"

/** A supply with a clock that the test controls, over an endpoint that responds at once and may fail. */
const setUp = Effect.gen(function*() {
  const clocks = TwoClocks.make()
  let requests = 0
  let failing = false
  const endpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
    environment,
    url: "https://v2.example/oauth2/token",
    requestedScopes: [],
    deadline: Duration.seconds(10),
    requestToken: () => {
      requests++
      return failing ? Effect.fail(failures.refused) : token(`token-${requests}`, "24 hours")
    }
  })
  const context = yield* Layer.build(
    AccessTokens.layer({ renewalWindow: { from: 0.8, to: 0.8 } }).pipe(Layer.provide(endpoint))
  ).pipe(Effect.withClock(clocks.clock))
  const { get, invalidate } = yield* Effect.provide(AccessTokens.AccessTokens, context)
  return {
    clocks,
    get,
    invalidate,
    text: Effect.map(get, textOf),
    requests: () => requests,
    fail: (on: boolean) => {
      failing = on
    }
  }
})

describe("wall clock and monotonic clock", () => {
  it.scoped("after a machine was suspended, callers wait no longer than the token is valid by the wall clock", () =>
    Effect.gen(function*() {
      const clocks = TwoClocks.make()
      const sleeps: Array<number> = []
      const clock: Clock.Clock = {
        ...clocks.clock,
        sleep: (duration) => Effect.zipRight(Effect.sync(() => sleeps.push(Duration.toMillis(duration))), Effect.never)
      }
      let requests = 0
      const endpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
        environment,
        url: "https://v2.example/oauth2/token",
        requestedScopes: [],
        deadline: Duration.seconds(10),
        requestToken: () => ++requests === 1 ? token("token-1", "1 hour") : Effect.never
      })
      const { get } = yield* AccessTokens.AccessTokens.pipe(
        Effect.provide(
          yield* Layer.build(AccessTokens.layer().pipe(Layer.provide(endpoint))).pipe(Effect.withClock(clock))
        )
      )
      yield* get
      clocks.jumpAhead(Duration.seconds(3_596))
      sleeps.length = 0
      yield* Effect.fork(get)
      for (let count = 0; count < 20; count++) yield* Effect.yieldNow()
      assert.include(sleeps, 2_000, "half of what the wall clock leaves, and not half an hour")
    }))

  it.scoped("a clock that jumps ahead by a day causes one renewal, and the jump back causes none", () =>
    Effect.gen(function*() {
      const { clocks, requests, text } = yield* setUp
      assert.strictEqual(yield* text, "token-1")
      clocks.jumpAhead("24 hours")
      assert.strictEqual(yield* text, "token-2")
      clocks.jumpBack("24 hours")
      for (let hour = 0; hour < 19; hour++) {
        assert.strictEqual(yield* text, "token-2")
        clocks.pass("1 hour")
      }
      assert.strictEqual(requests(), 2)
    }))

  it.scoped("after a clock jumps back by a day, a token is not used past its true lifetime", () =>
    Effect.gen(function*() {
      const { clocks, requests, text } = yield* setUp
      assert.strictEqual(yield* text, "token-1")
      clocks.jumpBack("24 hours")
      clocks.pass("19 hours")
      assert.strictEqual(yield* text, "token-1")
      clocks.pass("5 hours")
      assert.strictEqual(yield* text, "token-2")
      assert.strictEqual(requests(), 2)
    }))

  it.scoped("a process that was suspended past the expiry does not send the expired token", () =>
    Effect.gen(function*() {
      const { clocks, text } = yield* setUp
      assert.strictEqual(yield* text, "token-1")
      clocks.jumpAhead("25 hours") // the monotonic clock stops while the machine is suspended
      assert.strictEqual(yield* text, "token-2")
    }))

  it.scoped("a clock that jumps back does not lengthen the pause after a failure, and a jump ahead ends the pause", () =>
    Effect.gen(function*() {
      const { clocks, fail, requests, text } = yield* setUp
      fail(true)
      yield* Effect.flip(text)
      clocks.jumpBack("24 hours")
      clocks.pass("29 seconds")
      yield* Effect.flip(text)
      assert.strictEqual(requests(), 1)
      clocks.pass("1 second")
      yield* Effect.flip(text)
      assert.strictEqual(requests(), 2)
      clocks.jumpAhead("30 seconds")
      fail(false)
      assert.strictEqual(yield* text, "token-3")
    }))

  it.scoped("a clock that jumps ahead during a token request does not expire the new token", () =>
    Effect.gen(function*() {
      const clocks = TwoClocks.make()
      const jumping = Effect.suspend(() => {
        clocks.jumpAhead("2 days")
        return json(granted)
      })
      const endpoint = yield* TokenEndpointOver.make({}, jumping)
      const obtained = yield* endpoint.requestToken({ _tag: "Nothing" }).pipe(Effect.withClock(clocks.clock))
      assert.strictEqual(textOf(obtained), "an-access-token")
    }))

  it.scoped("a token request whose timers have stopped is replaced, and all its callers get the next token", () =>
    Effect.gen(function*() {
      const clocks = TwoClocks.make()
      const sent = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      const stuck = Effect.zipRight(Deferred.succeed(sent, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
      )
      let requests = 0
      const endpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
        environment,
        url: "https://v2.example/oauth2/token",
        requestedScopes: [],
        deadline: Duration.seconds(10),
        requestToken: () => ++requests === 1 ? stuck : token("token-2", "24 hours")
      })
      const { get } = yield* AccessTokens.AccessTokens.pipe(
        Effect.provide(
          yield* Layer.build(AccessTokens.layer().pipe(Layer.provide(endpoint))).pipe(Effect.withClock(clocks.clock))
        )
      )
      const text = Effect.map(get, textOf)
      const early = yield* Effect.fork(text)
      yield* Deferred.await(sent)
      // on Effect 4, the caller and its flight may still be in their first steps
      yield* Effect.yieldNow()
      clocks.pass("1 minute")
      assert.strictEqual(yield* text, "token-2")
      assert.strictEqual(yield* Fiber.join(early), "token-2")
      yield* Deferred.await(interrupted)
      assert.strictEqual(requests, 2)
    }))

  it.scoped("a clock that jumps back does not lengthen the limit on forced renewals", () =>
    Effect.gen(function*() {
      const { clocks, get, invalidate, text } = yield* setUp
      yield* invalidate(yield* get)
      const second = yield* get
      clocks.jumpBack("24 hours")
      clocks.pass("30 seconds")
      yield* invalidate(second)
      assert.strictEqual(yield* text, "token-3")
    }))
})
