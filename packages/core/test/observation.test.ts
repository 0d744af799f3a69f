import { TokenEvent } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Duration, Effect, Exit, Fiber, Option, Scope, Stream, TestClock } from "effect"
import { failures, textOf } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

describe("status", () => {
  it.scoped("status reports the phase of the token", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const phase = Effect.map(tokens.status, (status) => status.phase)
      assert.deepStrictEqual(yield* tokens.status, {
        environment: "test",
        tokenEndpoint: "https://v2.example/oauth2/token",
        version: Option.some("V2"),
        phase: "None",
        rejected: false,
        requestedScopes: ["data-access:all"],
        scopes: [],
        missingScopes: [],
        requestedAt: Option.none(),
        expiresAt: Option.none(),
        nextRequestAt: Option.none(),
        lastFailure: Option.none(),
        failingSince: Option.none(),
        consecutiveFailures: 0,
        consecutiveRejections: 0,
        callersWaiting: 0,
        tokensServed: 0,
        eventsLost: 0,
        store: Option.none()
      })
      yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("100 millis")
      const valid = yield* tokens.status
      assert.strictEqual(valid.phase, "Valid")
      assert.deepStrictEqual(valid.scopes, ["data-access:all"])
      assert.strictEqual(DateTime.toEpochMillis(Option.getOrThrow(valid.requestedAt)), 0)
      assert.strictEqual(DateTime.toEpochMillis(Option.getOrThrow(valid.expiresAt)), 3_600_000)
      assert.strictEqual(DateTime.toEpochMillis(Option.getOrThrow(valid.nextRequestAt)), 2_880_000)
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
      assert.strictEqual(DateTime.toEpochMillis(Option.getOrThrow(failed.nextRequestAt)), 3_630_100)
    }))

  it.scoped("status counts the failures since the last success, with the time of the first", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const streak = Effect.map(tokens.status, ({ consecutiveFailures, failingSince }) => [
        consecutiveFailures,
        Option.getOrUndefined(Option.map(failingSince, DateTime.toEpochMillis))
      ])
      yield* endpoint.fail(failures.unavailable)
      yield* Effect.fork(Effect.exit(tokens.get))
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(yield* streak, [1, 100])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* streak, [3, 100], "with the retries")
      yield* TestClock.adjust("1 minute")
      yield* Effect.fork(Effect.exit(tokens.get))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* streak, [5, 100], "the third retry would have been too late")
      yield* endpoint.recover
      yield* TestClock.adjust("1 minute")
      yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(yield* streak, [0, undefined])
    }))

  it.scoped("status counts the callers that wait, and the tokens that callers got", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const counts = Effect.map(tokens.status, ({ callersWaiting, tokensServed }) => [callersWaiting, tokensServed])
      const callers = yield* Effect.forEach([1, 2, 3], () => Effect.fork(tokens.get))
      const refresh = yield* Effect.fork(tokens.refresh)
      yield* TestClock.adjust("50 millis")
      assert.deepStrictEqual(yield* counts, [4, 0])
      yield* Effect.forEach(callers.slice(0, 1), Fiber.interrupt)
      assert.deepStrictEqual(yield* counts, [3, 0], "one has given up")
      yield* TestClock.adjust("50 millis")
      const token = yield* Fiber.join(refresh)
      assert.deepStrictEqual(yield* counts, [0, 3])
      yield* tokens.get
      assert.deepStrictEqual(yield* counts, [0, 4])
      yield* TestClock.adjust("48 minutes")
      yield* tokens.get
      assert.deepStrictEqual(yield* counts, [0, 5], "the valid token, while it is renewed")
      yield* TestClock.adjust("100 millis")
      yield* tokens.replace(token)
      assert.deepStrictEqual(yield* counts, [0, 6], "the token that has replaced it")
      const renewed = yield* tokens.get
      const replacing = yield* Effect.fork(tokens.replace(renewed))
      const waiting = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("50 millis")
      assert.deepStrictEqual(yield* counts, [2, 7])
      yield* TestClock.adjust("50 millis")
      yield* Effect.forEach([replacing, waiting], Fiber.join)
      assert.deepStrictEqual(yield* counts, [0, 9])
      assert.deepStrictEqual(yield* tokens.replace(renewed), yield* tokens.get)
      const held = yield* tokens.get
      assert.strictEqual(yield* tokens.replace(held), held, "too early for another one")
      assert.deepStrictEqual(yield* counts, [0, 13])
      yield* endpoint.fail(failures.refused)
      yield* TestClock.adjust("1 hour")
      yield* Effect.fork(Effect.exit(tokens.get))
      yield* TestClock.adjust("100 millis")
      yield* Effect.exit(tokens.get)
      assert.deepStrictEqual(yield* counts, [0, 13], "a failure is no token")
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
        assert.deepStrictEqual(events.map(({ at }) => DateTime.toEpochMillis(at)), [
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
        const tokenEndpoint = "https://v2.example/oauth2/token"
        for (const event of events) assert.strictEqual(event.tokenEndpoint, tokenEndpoint)
        const duration = Duration.millis(100)
        assert.deepInclude(failed, { reason: "Due", duration })
        assert.deepInclude(events.find(TokenEvent.$is("Obtained")), {
          reason: "Nothing",
          duration,
          scopes: token.scopes,
          expiresAt: token.expiresAt,
          dueAt: DateTime.unsafeMake(2_880_000)
        })
        assert.deepInclude(events.find(TokenEvent.$is("Renewed")), {
          reason: "Due",
          duration,
          dueAt: DateTime.unsafeMake(3_060_200 + 2_880_000)
        })
        assert.deepInclude(events.at(-1), { _tag: "Requested", reason: "Rejected" })
      }
    }))

  it.scoped("a listener that gets a failure finds it in the status", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const status = yield* tokens.events.pipe(
        Stream.filter(TokenEvent.$is("Failed")),
        Stream.mapEffect(() => tokens.status),
        Stream.runHead,
        Effect.fork
      )
      yield* Effect.yieldNow()
      yield* endpoint.fail(failures.refused)
      yield* Effect.fork(Effect.exit(tokens.get))
      yield* TestClock.adjust("100 millis")
      const { consecutiveFailures, lastFailure } = Option.getOrThrow(yield* Fiber.join(status))
      assert.strictEqual(Option.getOrThrow(lastFailure)._tag, "InvalidClient")
      assert.strictEqual(consecutiveFailures, 1)
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
      yield* Effect.forEach(Array.from({ length: 800 }), () => Effect.fork(Stream.runDrain(tokens.events)))
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
      assert.strictEqual((yield* tokens.status).eventsLost, 100 - events.length)
      assert.strictEqual(events.at(-1)?._tag, "Obtained")
    }))
})
