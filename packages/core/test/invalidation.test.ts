import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, TestClock } from "effect"
import { failures, textOf, token } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

const waited = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust("100 millis")
    return yield* Fiber.join(fiber)
  })

describe("invalidation", () => {
  it.scoped("invalidate starts one renewal, and the next caller waits for the new token", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const rejected = yield* waited(tokens.get)
      yield* tokens.invalidate(rejected)
      assert.isTrue((yield* tokens.status).rejected)
      assert.strictEqual(textOf(yield* waited(tokens.get)), "token-2")
      assert.strictEqual(yield* endpoint.requests, 2)
      assert.isFalse((yield* tokens.status).rejected)
    }))

  it.scoped("replace returns the first token when there was none, and another token when the rejected one has expired", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const foreign = yield* token("from elsewhere", "1 hour")
      assert.strictEqual(textOf(yield* waited(tokens.replace(foreign))), "token-1")
      const held = yield* tokens.get
      assert.strictEqual(textOf(yield* waited(tokens.replace(foreign))), "token-1", "the supply has another token")
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(textOf(yield* waited(tokens.replace(held))), "token-2")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("invalidate renews the token even without another caller", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* tokens.invalidate(yield* waited(tokens.get))
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* endpoint.requests, 2)
      assert.strictEqual(textOf(yield* tokens.get), "token-2")
    }))

  it.scoped("invalidate does nothing when another token has replaced the rejected one", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const rejected = yield* waited(tokens.get)
      yield* tokens.invalidate(rejected)
      yield* waited(tokens.get)
      yield* TestClock.adjust("31 seconds")
      yield* tokens.invalidate(rejected)
      assert.strictEqual(textOf(yield* tokens.get), "token-2")
      assert.strictEqual(textOf(yield* tokens.replace(rejected)), "token-2")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("rejections by 100 callers at once, and by late callers, cause one renewal", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const rejected = yield* waited(tokens.get)
      const rejection = Effect.zipRight(tokens.invalidate(rejected), tokens.get)
      const replacement = tokens.replace(rejected)
      const both = Array.from({ length: 50 }, () => [rejection, replacement]).flat()
      const replaced = yield* waited(Effect.all(both, { concurrency: "unbounded" }))
      assert.deepStrictEqual(new Set(replaced.map(textOf)), new Set(["token-2"]))
      assert.strictEqual(textOf(yield* waited(rejection)), "token-2")
      assert.strictEqual(textOf(yield* waited(replacement)), "token-2")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("a rejection within 30 s of a replacement replaces nothing, and the next one after that does", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* tokens.invalidate(yield* waited(tokens.get))
      const second = yield* waited(tokens.get)
      yield* TestClock.setTime(100 + 29_999)
      yield* tokens.invalidate(second)
      const { phase, rejected } = yield* tokens.status
      assert.deepStrictEqual([phase, rejected], ["Valid", false])
      assert.strictEqual(textOf(yield* tokens.replace(second)), "token-2", "the 401 is the caller's")
      yield* TestClock.setTime(100 + 30_000)
      assert.strictEqual(textOf(yield* waited(tokens.get)), "token-2", "an earlier rejection does not replace it")
      assert.strictEqual(textOf(yield* waited(tokens.replace(second))), "token-3")
      assert.strictEqual(yield* endpoint.requests, 3)
    }))

  it.scoped("forcedRenewalPause sets the time between two renewals of rejected tokens", () =>
    Effect.gen(function*() {
      const { tokens } = yield* Supply.make({ settings: { forcedRenewalPause: "1 second" } })
      yield* tokens.invalidate(yield* waited(tokens.get))
      const second = yield* waited(tokens.get)
      yield* TestClock.adjust("1 second")
      yield* tokens.invalidate(second)
      assert.strictEqual(textOf(yield* waited(tokens.get)), "token-3")
    }))

  it.scoped("a token that is rejected during its renewal is replaced by that renewal", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const first = yield* waited(tokens.get)
      yield* TestClock.adjust("50 minutes")
      yield* tokens.get
      yield* tokens.invalidate(first)
      assert.strictEqual(textOf(yield* waited(tokens.get)), "token-2")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("a renewal that returns the rejected token again counts as its replacement", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const first = yield* waited(tokens.get)
      yield* TestClock.adjust("50 minutes")
      yield* endpoint.respond((text) => token(text === "token-2" ? "token-1" : text, "1 hour"))
      yield* tokens.get
      const replaced = yield* Effect.fork(tokens.replace(first))
      const waiting = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("200 millis")
      assert.strictEqual(textOf(yield* Fiber.join(replaced)), "token-1")
      assert.strictEqual(textOf(yield* Fiber.join(waiting)), "token-1", "it may still work for other calls")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("a server that keeps returning the rejected token gets one request every 30 s, and callers keep the token", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.respond(() => token("the same", "1 hour"))
      const first = yield* waited(tokens.get)
      assert.strictEqual(textOf(yield* waited(tokens.replace(first))), "the same")
      assert.strictEqual(textOf(yield* tokens.replace(first)), "the same")
      assert.strictEqual(textOf(yield* tokens.get), "the same")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("a rejected token whose renewal fails remains in use, and replace fails with the failure", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const first = yield* waited(tokens.get)
      yield* endpoint.fail(failures.refused)
      const stray = yield* Effect.fork(Effect.flip(tokens.replace(first)))
      assert.strictEqual(textOf(yield* waited(tokens.get)), "token-1")
      assert.strictEqual((yield* Fiber.join(stray))._tag, "InvalidClient")
      assert.strictEqual(textOf(yield* tokens.get), "token-1", "without waiting, while the failure is remembered")
      assert.strictEqual((yield* Effect.flip(tokens.replace(first)))._tag, "InvalidClient")
      assert.strictEqual(yield* endpoint.requests, 2)
      assert.isTrue((yield* tokens.status).rejected)
      yield* endpoint.recover
      yield* TestClock.adjust("31 seconds")
      assert.strictEqual(textOf(yield* waited(tokens.get)), "token-3", "the next caller after the pause renews it")
    }))

  it.scoped("invalidate sends no request while a failure is remembered", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const first = yield* waited(tokens.get)
      yield* TestClock.adjust("50 minutes")
      yield* endpoint.fail(failures.refused)
      yield* waited(tokens.get)
      assert.strictEqual(yield* endpoint.requests, 2)
      yield* tokens.invalidate(first)
      assert.strictEqual((yield* Effect.flip(tokens.replace(first)))._tag, "InvalidClient")
      assert.strictEqual(textOf(yield* tokens.get), "token-1")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("when the renewal of a rejected token hangs, get waits for 2.5 s, and replace until the deadline", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const first = yield* waited(tokens.get)
      yield* endpoint.respond(() => Effect.never)
      const stray = yield* Effect.fork(Effect.timed(Effect.flip(tokens.replace(first))))
      yield* TestClock.adjust("0 millis")
      const waiting = yield* Effect.fork(Effect.timed(tokens.get))
      yield* TestClock.adjust("11 seconds")
      const [patience, served] = yield* Fiber.join(waiting)
      assert.deepStrictEqual([Duration.toMillis(patience), textOf(served)], [2_500, "token-1"])
      const [time, error] = yield* Fiber.join(stray)
      assert.deepStrictEqual([Duration.toMillis(time), error._tag], [11_000, "TransportError"])
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("get waits at most half of the remaining lifetime of a rejected token", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make({ lifetime: "1 minute" })
      const first = yield* waited(tokens.get)
      yield* TestClock.setTime(58_000)
      yield* endpoint.respond(() => Effect.never)
      yield* tokens.invalidate(first)
      const waiting = yield* Effect.fork(Effect.timed(tokens.get))
      yield* TestClock.adjust("2 seconds")
      const [patience, served] = yield* Fiber.join(waiting)
      assert.deepStrictEqual([Duration.toMillis(patience), textOf(served)], [1_000, "token-1"])
    }))

  it.scoped("replace of an expired token returns what get returns", () =>
    Effect.gen(function*() {
      const { tokens } = yield* Supply.make()
      const first = yield* waited(tokens.get)
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(textOf(yield* waited(tokens.replace(first))), "token-2")
    }))
})
