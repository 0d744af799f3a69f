import { TokenEvent } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Duration, Effect, Exit, Fiber, identity, Option, Scope, Stream, TestClock } from "effect"
import { failures, textOf } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"
import {
  type Action,
  fail,
  get,
  hang,
  interrupt,
  lastFailure,
  log,
  many,
  nextRequestAt,
  phase,
  recover,
  refresh,
  reject,
  replace,
  status,
  timeline
} from "./support/timeline.ts"

describe("the client", () => {
  const clientId = `acme-${"x".repeat(100)}`
  const shown = `acme-${"x".repeat(58)}…`

  const clientInLog: Action = {
    what: "the log has the client",
    look: (supply) => Effect.map(log.look(supply), (lines) => lines.join().includes(`(test, client ${shown})`))
  }

  it.scoped("is in the status and in failures, and its first 64 characters are in the log", () =>
    timeline([
      ["0 s", status((all) => all.clientId), Option.some(clientId)],
      ["0 s", hang],
      ["0 s", get],
      ["11 s", lastFailure((error) => error.clientId), clientId],
      ["11 s", clientInLog, true]
    ], { clientId }))
})

describe("status", () => {
  it.scoped("status reports the phase of the token", () =>
    timeline([
      ["0 s", status(identity), {
        environment: "test",
        clientId: Option.none(),
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
        callersWaiting: 0,
        tokensServed: 0,
        store: Option.none()
      }],
      ["0 s", get],
      ["100 ms", phase, "Valid"],
      ["100 ms", status(({ expiresAt, requestedAt, scopes }) => ({ expiresAt, requestedAt, scopes })), {
        scopes: ["data-access:all"],
        requestedAt: DateTime.make(0),
        expiresAt: DateTime.make(3_600_000)
      }],
      ["100 ms", nextRequestAt, 2_880],
      ["48 min", phase, "Due"],
      ["59 min 55 s", phase, "Expiring"],
      ["1 h", phase, "Expired"],
      ["1 h", fail(failures.refused)],
      ["1 h", get],
      ["1 h 100 ms", lastFailure(({ _tag }) => _tag), "InvalidClient"],
      ["1 h 100 ms", nextRequestAt, 3_630.1]
    ]))

  it.scoped("status reports that a renewal is due before callers have to wait, whatever the window", () =>
    timeline([
      ["0 s", get],
      ["100 ms", nextRequestAt, 3_592.5]
    ], { settings: { renewalWindow: { from: 1, to: 1 } } }))

  it.scoped("status reports as the next request the end of the pause after a failure, even if a renewal may be forced before", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1")],
      ["2 s", reject("token-2")],
      ["2 s", nextRequestAt, 31],
      ["3 s", fail(failures.refused)],
      ["3 s", refresh],
      ["4 s", nextRequestAt, 33.1]
    ]))

  it.scoped("status reports as the next request a renewal that is due before one may be forced", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1")],
      ["2 s", reject("token-2")],
      ["2 s", nextRequestAt, 17]
    ], { lifetime: "20 seconds" }))

  it.scoped("status counts the failures since the last success, with the time of the first", () => {
    const streak = status(({ consecutiveFailures, failingSince }) => [consecutiveFailures, failingSince])
    const since = DateTime.make(100)
    return timeline([
      ["0 s", fail(failures.unavailable)],
      ["0 s", get],
      ["100 ms", streak, [1, since]],
      ["10 s", streak, [3, since]], // with the retries
      ["1 min", get],
      ["1 min 10 s", streak, [5, since]], // the third retry would have been too late
      ["2 min", recover],
      ["2 min", get],
      ["3 min", streak, [0, Option.none()]]
    ])
  })

  it.scoped("status counts the callers that wait, and the tokens that callers got", () => {
    const counts = status(({ callersWaiting, tokensServed }) => [callersWaiting, tokensServed])
    return timeline([
      ["0 s", many(3, get)],
      ["0 s", refresh],
      ["50 ms", counts, [4, 0]],
      ["50 ms", interrupt(1)],
      ["50 ms", counts, [3, 0]],
      ["100 ms", counts, [0, 3]],
      ["1 s", get],
      ["1 s", counts, [0, 4]],
      ["48 min", get],
      ["48 min", counts, [0, 5]], // the valid token, while it is renewed
      ["49 min", replace("token-1")],
      ["49 min", counts, [0, 6]], // the token that has replaced it
      ["49 min", replace("token-2", "token-1")],
      ["49 min", get],
      ["49 min", counts, [1, 7]],
      ["49 min 1 s", counts, [0, 8]],
      ["49 min 1 s", replace("token-3", "token-2"), "token-3"], // too early for another one
      ["49 min 1 s", counts, [0, 9]],
      ["50 min", fail(failures.refused)],
      ["2 h", get],
      ["2 h 1 s", get, "InvalidClient"],
      ["2 h 1 s", counts, [0, 9]] // a failure is no token
    ])
  })
})

describe("events", () => {
  it.scoped("every listener gets all events, in order", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const listen = Effect.fork(Stream.runCollect(Stream.take(tokens.events, 9)))
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
      yield* tokens.invalidate(token)
      yield* get
      for (const listener of listeners) {
        const events = Array.from(yield* Fiber.join(listener))
        assert.deepStrictEqual(events.map(({ _tag, at }) => [_tag, DateTime.toEpochMillis(at)]), [
          ["Requested", 0],
          ["Obtained", 100],
          ["Requested", 3_000_100],
          ["Failed", 3_000_200],
          ["Requested", 3_060_200],
          ["Renewed", 3_060_300],
          ["Invalidated", 3_060_300],
          ["Invalidated", 3_060_300],
          ["Requested", 3_060_300]
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

  it.scoped("a token that many calls report is one event", () =>
    Effect.gen(function*() {
      const { tokens } = yield* Supply.make({ latency: 0 })
      const token = yield* tokens.get
      const seen: Array<string> = []
      yield* Effect.fork(Stream.runForEach(tokens.events, ({ _tag }) => Effect.sync(() => seen.push(_tag))))
      yield* TestClock.adjust("0 millis")
      yield* Effect.replicateEffect(tokens.invalidate(token), 3)
      yield* TestClock.adjust("0 millis")
      assert.deepStrictEqual(seen.filter((tag) => tag === "Invalidated"), ["Invalidated"])
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
      assert.strictEqual(events.at(-1)?._tag, "Obtained")
    }))
})
