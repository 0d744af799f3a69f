import { AccessTokens } from "@credit-data/core"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Option, Scope, TestClock } from "effect"
import * as FakeEndpoint from "./support/fakeEndpoint.ts"
import { failures, textOf } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

/** Starts it outside of every other effect, as a tracer would. */
const start = <A, E>(effect: Effect.Effect<A, E>) => Effect.runFork(effect)

describe("one flight", () => {
  it.scoped("the first steps of a flight may request a token, and join the flight", () =>
    Effect.gen(function*() {
      let ask = () => {}
      const { tracer } = recordingTracer(() => ask())
      const { endpoint, tokens } = yield* Effect.withTracer(Supply.make(), tracer)
      let nested = 0
      // if there were no flight to join, each span would begin another one
      ask = () => void (nested++ < 100 && start(tokens.get))
      const caller = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("100 millis")
      yield* Fiber.join(caller)
      assert.strictEqual(nested, 1)
      assert.strictEqual(yield* endpoint.requests, 1)
    }))

  it.scoped("10 000 cold callers cause one request and get its token", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const callers = yield* Effect.fork(
        Effect.all(Array.from({ length: 10_000 }, () => tokens.get), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual([...new Set((yield* Fiber.join(callers)).map(textOf))], ["token-1"])
      assert.strictEqual(yield* endpoint.requests, 1)
    }))

  it.scoped("10 000 cold callers of an endpoint that refuses cause one request and get its failure", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.refused)
      const callers = yield* Effect.fork(
        Effect.all(Array.from({ length: 10_000 }, () => Effect.flip(tokens.get)), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual([...new Set((yield* Fiber.join(callers)).map(({ _tag }) => _tag))], ["InvalidClient"])
      assert.strictEqual(yield* endpoint.requests, 1)
    }))

  it.scoped("a caller that is interrupted or timed out does not affect the others", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const first = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("10 millis")
      const second = yield* Effect.fork(Effect.timeoutOption(tokens.get, "20 millis"))
      const third = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("10 millis")
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("80 millis")
      assert.isTrue(Option.isNone(yield* Fiber.join(second)))
      assert.strictEqual(textOf(yield* Fiber.join(third)), "token-1")
      assert.strictEqual(yield* endpoint.requests, 1)
      assert.strictEqual(yield* endpoint.aborted, 0)
    }))

  it.scoped("a flight continues when all its callers are gone", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const only = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("10 millis")
      yield* Fiber.interrupt(only)
      yield* TestClock.adjust("90 millis")
      assert.strictEqual(textOf(yield* tokens.get), "token-1")
      assert.strictEqual(yield* endpoint.requests, 1)
    }))

  it.scoped("callers during a renewal get the valid token, or join the renewal when the token has expired", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make({ lifetime: "10 seconds", latency: "3 seconds" })
      const cold = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(cold)
      yield* TestClock.setTime(8_500)
      assert.strictEqual(textOf(yield* tokens.get), "token-1")
      yield* TestClock.setTime(10_500)
      const late = yield* Effect.fork(Effect.all([tokens.get, tokens.get], { concurrency: 2 }))
      yield* TestClock.setTime(11_500)
      assert.deepStrictEqual((yield* Fiber.join(late)).map(textOf), ["token-2", "token-2"])
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("a token endpoint that dies or interrupts itself is a TransportError for waiting callers, and is remembered", () =>
    Effect.gen(function*() {
      for (const broken of [Effect.die(new RangeError("a bug")), Effect.die("a bug"), Effect.interrupt]) {
        const { endpoint, tokens } = yield* Supply.make()
        yield* endpoint.respond(() => broken)
        const caller = yield* Effect.fork(Effect.flip(tokens.get))
        for (let second = 0; second < 4; second++) yield* TestClock.adjust("1 second")
        const error = yield* Fiber.join(caller)
        assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Other" })
        assert.match(error.message, /requestToken of this TokenEndpoint died with/)
        assert.notInclude(error.message, "a bug")
        for (let count = 0; count < 100; count++) yield* Effect.ignore(tokens.get)
        assert.strictEqual(yield* endpoint.requests, 3)
        yield* endpoint.recover
        yield* TestClock.adjust("1 minute")
        const next = yield* Effect.fork(tokens.get)
        yield* TestClock.adjust("100 millis")
        assert.match(textOf(yield* Fiber.join(next)), /^token-/)
      }
    }))
})

describe("closing the scope of the layer", () => {
  const inScope = Effect.fnUntraced(function*(scope: Scope.Scope) {
    const endpoint = yield* FakeEndpoint.make()
    const context = yield* Layer.buildWithScope(AccessTokens.layer().pipe(Layer.provide(endpoint.layer)), scope)
    return { endpoint, tokens: yield* Effect.provide(AccessTokens.AccessTokens, context) }
  })

  it.effect("closing the scope aborts the token request, and waiting callers fail with Closed, even uninterruptible callers", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { endpoint, tokens } = yield* inScope(scope)
      const waiting = yield* Effect.fork(tokens.get)
      const stubborn = yield* Effect.fork(Effect.uninterruptible(tokens.get))
      yield* TestClock.adjust("10 millis")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* endpoint.aborted, 1)
      for (const caller of [waiting, stubborn]) {
        const error = yield* Effect.flip(Fiber.join(caller))
        assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Closed" })
        assert.isFalse(error.retryable)
      }
    }))

  it.effect("closing the scope aborts a token request that an uninterruptible caller began", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { endpoint, tokens } = yield* inScope(scope)
      const stubborn = yield* Effect.fork(Effect.uninterruptible(tokens.get))
      yield* TestClock.adjust("10 millis")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* endpoint.aborted, 1)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(stubborn)))
    }))

  it.effect("after the scope has closed, callers fail with Closed, even if a token was valid, and no request is sent", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { endpoint, tokens } = yield* inScope(scope)
      const first = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("100 millis")
      yield* Fiber.join(first)
      const held = yield* tokens.get
      yield* Scope.close(scope, Exit.void)
      for (const late of [tokens.get, tokens.refresh, tokens.replace(held)]) {
        assert.deepInclude({ ...(yield* Effect.flip(late)) }, { _tag: "TransportError", reason: "Closed" })
      }
      yield* tokens.invalidate(held)
      yield* tokens.reports?.scopeMissing("furnishment:all") ?? Effect.void
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* endpoint.requests, 1)
      assert.strictEqual((yield* tokens.status).phase, "None")
    }))
})

describe("settings", () => {
  const build = (settings: AccessTokens.Settings) =>
    Effect.gen(function*() {
      const endpoint = yield* FakeEndpoint.make()
      return yield* Layer.build(AccessTokens.layer(settings).pipe(Layer.provide(endpoint.layer)))
    }).pipe(Effect.scoped, Effect.flip)

  it.effect("invalid settings are one ConfigError that names all of them", () =>
    Effect.gen(function*() {
      const error = String(yield* build({ renewalWindow: { from: 0, to: 2 }, forcedRenewalPause: Duration.infinity }))
      assert.include(error, "renewalWindow")
      assert.include(error, "forcedRenewalPause")
      for (
        const window of [{ from: Number.NaN, to: 1 }, { from: 0, to: 1 }, { from: 0.9, to: 0.8 }, {
          from: 0.5,
          to: 1.1
        }]
      ) {
        assert.include(
          String(yield* build({ renewalWindow: window })),
          "renewalWindow: \"Expected 0 < from <= to <= 1\""
        )
      }
      assert.include(error, "Expected a finite duration above zero")
      assert.include(String(yield* build({ forcedRenewalPause: Number.NaN })), "forcedRenewalPause")
    }))
})
