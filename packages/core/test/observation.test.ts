import { TokenEvent } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Exit, Fiber, Option, Scope, Stream, TestClock } from "effect"
import { failures, textOf } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

describe("status", () => {
  it.scoped("status reports the phase of the token", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const phase = Effect.map(tokens.status, (status) => status.phase)
      assert.deepStrictEqual(yield* tokens.status, {
        environment: "test",
        phase: "None",
        rejected: false,
        scopes: [],
        missingScopes: [],
        expiresAt: Option.none(),
        nextRequestAt: Option.none(),
        lastFailure: Option.none()
      })
      yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("100 millis")
      const valid = yield* tokens.status
      assert.strictEqual(valid.phase, "Valid")
      assert.deepStrictEqual(valid.scopes, ["data-access:all"])
      assert.strictEqual(Option.getOrThrow(valid.expiresAt).epochMillis, 3_600_000)
      assert.strictEqual(Option.getOrThrow(valid.nextRequestAt).epochMillis, 2_880_000)
      yield* TestClock.setTime(2_880_000)
      assert.strictEqual(yield* phase, "Due")
      yield* TestClock.setTime(3_595_000)
      assert.strictEqual(yield* phase, "Expiring")
      yield* TestClock.setTime(3_600_000)
      assert.strictEqual(yield* phase, "Expired")
      yield* endpoint.fail(failures.refused)
      yield* Effect.fork(Effect.ignore(tokens.get))
      yield* TestClock.adjust("100 millis")
      const failed = yield* tokens.status
      assert.strictEqual(Option.getOrThrow(failed.lastFailure)._tag, "InvalidClient")
      assert.strictEqual(Option.getOrThrow(failed.nextRequestAt).epochMillis, 3_630_100)
    }))
})

describe("events", () => {
  it.scoped("every listener gets all events, in order", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const listen = Effect.fork(Stream.runCollect(Stream.take(tokens.events, 8)))
      const listeners = yield* Effect.all([listen, listen])
      yield* Effect.yieldNow()
      const get = Effect.gen(function*() {
        const fiber = yield* Effect.fork(Effect.exit(tokens.get))
        yield* TestClock.adjust("100 millis")
        return yield* yield* Fiber.join(fiber)
      })
      const token = yield* get
      yield* TestClock.adjust("50 minutes")
      yield* endpoint.fail(failures.refused)
      yield* get
      yield* endpoint.recover
      yield* TestClock.adjust("1 minute")
      yield* get
      yield* tokens.invalidate(yield* tokens.get)
      yield* get
      for (const listener of listeners) {
        const events = Array.from(yield* Fiber.join(listener))
        assert.deepStrictEqual(events.map(({ _tag }) => _tag), [
          "Requested",
          "Obtained",
          "Requested",
          "Failed",
          "Requested",
          "Renewed",
          "Invalidated",
          "Requested"
        ])
        assert.deepStrictEqual(events.map(({ at }) => at.epochMillis), [
          0,
          100,
          3_000_100,
          3_000_200,
          3_060_200,
          3_060_300,
          3_060_300,
          3_060_300
        ])
        const failed = events.find(TokenEvent.$is("Failed"))
        assert.deepStrictEqual(failed?.error.nextTryAt, DateTime.unsafeMake(3_030_200))
        const obtained = events.find(TokenEvent.$is("Obtained"))
        assert.deepStrictEqual(obtained?.scopes, token.scopes)
        assert.deepStrictEqual(obtained?.expiresAt, token.expiresAt)
      }
    }))

  it.scoped("a listener that leaves while an event is published does not affect others", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const last = yield* Deferred.make<Fiber.Fiber<void>>()
      // publishing to so many listeners takes several turns of the scheduler, and the last listener leaves in between
      yield* tokens.events.pipe(
        Stream.runForEach(() => Effect.flatMap(Deferred.await(last), Fiber.interrupt)),
        Effect.fork
      )
      yield* TestClock.adjust("0 millis")
      yield* Effect.forEach(Array.from({ length: 4_000 }), () => Effect.fork(Stream.runDrain(tokens.events)))
      yield* TestClock.adjust("0 millis")
      const leaving = yield* Effect.fork(Stream.runDrain(tokens.events))
      yield* TestClock.adjust("0 millis")
      yield* Deferred.succeed(last, leaving)
      const callers = yield* Effect.forEach([1, 2], () => Effect.fork(tokens.get))
      for (let step = 0; step < 20; step++) yield* TestClock.adjust("10 millis")
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(leaving)))
      assert.deepStrictEqual((yield* Effect.forEach(callers, Fiber.join)).map(textOf), ["token-1", "token-1"])
      assert.strictEqual(yield* endpoint.requests, 1)
    }))

  it.effect("the events end when the scope of the layer is closed", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { tokens } = yield* Scope.extend(Supply.make(), scope)
      const listener = yield* Effect.fork(Stream.runCollect(tokens.events))
      yield* Effect.yieldNow()
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.await(listener)
    }))

  it.effect("a slow listener loses the oldest events and does not block the publisher", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { endpoint, tokens } = yield* Scope.extend(
        Supply.make({ lifetime: "1 second", latency: "1 millis" }),
        scope
      )
      const awake = yield* Deferred.make<void>()
      const slow = yield* tokens.events.pipe(Stream.tap(() => Deferred.await(awake)), Stream.runCollect, Effect.fork)
      yield* Effect.yieldNow()
      for (let round = 0; round < 50; round++) {
        yield* Effect.fork(tokens.get)
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(yield* endpoint.requests, 50)
      yield* Deferred.succeed(awake, undefined)
      yield* TestClock.adjust("1 second")
      yield* Scope.close(scope, Exit.void)
      const events = Array.from(yield* Fiber.join(slow))
      assert.isBelow(events.length, 70)
      assert.strictEqual(events.at(-1)?._tag, "Obtained")
    }))
})
