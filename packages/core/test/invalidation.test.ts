import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { failures, textOf, token } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

const waited = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust("100 millis")
    return yield* Fiber.join(fiber)
  })

describe("invalidation", () => {
  it.scoped("drops the token that was rejected, and the next caller gets another one", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const rejected = yield* waited(tokens.get)
      yield* tokens.invalidate(rejected)
      assert.strictEqual(yield* endpoint.requests, 1, "renewal is started by use")
      assert.strictEqual(textOf(yield* waited(tokens.get)), "token-2")
    }))

  it.scoped("leaves a token alone that has replaced the rejected one", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const rejected = yield* waited(tokens.get)
      yield* tokens.invalidate(rejected)
      yield* waited(tokens.get)
      yield* TestClock.adjust("31 seconds")
      yield* tokens.invalidate(rejected)
      assert.strictEqual(textOf(yield* tokens.get), "token-2")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("by 100 callers at once, and by stragglers, causes one renewal", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const rejected = yield* waited(tokens.get)
      const rejection = Effect.zipRight(tokens.invalidate(rejected), tokens.get)
      yield* waited(Effect.all(Array.from({ length: 100 }, () => rejection), { concurrency: "unbounded" }))
      assert.strictEqual(textOf(yield* waited(rejection)), "token-2")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("is limited to one in 30 s after the first; within the limit it changes nothing", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* tokens.invalidate(yield* waited(tokens.get))
      const second = yield* waited(tokens.get)
      yield* TestClock.setTime(100 + 29_999)
      yield* tokens.invalidate(second)
      assert.strictEqual(textOf(yield* tokens.get), "token-2")
      yield* TestClock.setTime(100 + 30_000)
      yield* tokens.invalidate(second)
      assert.strictEqual(textOf(yield* waited(tokens.get)), "token-3")
      assert.strictEqual(yield* endpoint.requests, 3)
    }))

  it.scoped("the limit is a setting", () =>
    Effect.gen(function*() {
      const { tokens } = yield* Supply.make({ settings: { forcedRenewalPause: "1 second" } })
      yield* tokens.invalidate(yield* waited(tokens.get))
      const second = yield* waited(tokens.get)
      yield* TestClock.adjust("1 second")
      yield* tokens.invalidate(second)
      assert.strictEqual(textOf(yield* waited(tokens.get)), "token-3")
    }))

  it.scoped("during a renewal: the token that it brings is good if it is another one", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const first = yield* waited(tokens.get)
      yield* TestClock.adjust("50 minutes")
      yield* tokens.get
      yield* tokens.invalidate(first)
      assert.strictEqual(textOf(yield* waited(tokens.get)), "token-2")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("during a renewal that brings the rejected token again: it is asked once more", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const first = yield* waited(tokens.get)
      yield* TestClock.adjust("50 minutes")
      yield* endpoint.answer((text) => token(text === "token-2" ? "token-1" : text, "1 hour"))
      yield* tokens.get
      yield* tokens.invalidate(first)
      const waiting = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("200 millis")
      assert.strictEqual(textOf(yield* Fiber.join(waiting)), "token-3")
      assert.strictEqual(yield* endpoint.requests, 3)
    }))

  it.scoped("asking once more stays within the deadline of the flight", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make({ latency: "9 seconds" })
      const cold = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("9 seconds")
      const first = yield* Fiber.join(cold)
      yield* TestClock.adjust("50 minutes")
      yield* endpoint.answer(() => token("token-1", "1 hour"))
      yield* tokens.get
      yield* tokens.invalidate(first)
      const waiting = yield* Effect.fork(Effect.flip(tokens.get))
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude({ ...(yield* Fiber.join(waiting)) }, { _tag: "TransportError", reason: "Timeout" })
    }))

  it.scoped("a server that insists on the rejected token isn't asked for ever", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.answer(() => token("the same", "1 hour"))
      const first = yield* waited(tokens.get)
      yield* tokens.invalidate(first)
      const again = yield* waited(tokens.get)
      assert.strictEqual(textOf(again), "the same")
      yield* tokens.invalidate(again)
      assert.strictEqual(textOf(yield* tokens.get), "the same")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("of a token that fails to be replaced gives the failure, which is remembered", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const first = yield* waited(tokens.get)
      yield* endpoint.fail(failures.refused)
      yield* tokens.invalidate(first)
      assert.strictEqual((yield* waited(Effect.flip(tokens.get)))._tag, "InvalidClient")
      assert.strictEqual((yield* Effect.flip(tokens.get))._tag, "InvalidClient")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))
})
