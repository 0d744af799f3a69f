import { TokenError } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, DateTime, Duration, Effect, Either, Fiber, Logger, Schedule, TestClock } from "effect"
import { failures, textOf } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

/** The result of an effect, with the virtual time that the effect took. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>, upTo: Duration.DurationInput) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.timed(effect))
    yield* TestClock.adjust(upTo)
    const [duration, value] = yield* Fiber.join(fiber)
    return { millis: Duration.toMillis(duration), value }
  })

describe("a failure without a valid token", () => {
  it.scoped("a flight retries a retryable failure up to twice, after pauses, and then fails", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.unavailable)
      const { millis, value } = yield* timed(Effect.flip(tokens.get), "10 seconds")
      assert.strictEqual(value._tag, "ServerError")
      assert.strictEqual(yield* endpoint.requests, 3)
      assert.isTrue(millis >= 300 + 500 + 1_000 && millis <= 300 + 1_000 + 2_000, String(millis))
    }))

  it.scoped("callers do not see the failure when a retry succeeds", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.timeout)
      const caller = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("100 millis")
      yield* endpoint.recover
      yield* TestClock.adjust("1100 millis")
      assert.strictEqual(textOf(yield* Fiber.join(caller)), "token-2")
    }))

  it.scoped("a failure that is not retryable is not retried", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.refused)
      yield* timed(Effect.flip(tokens.get), "100 millis")
      assert.strictEqual(yield* endpoint.requests, 1)
    }))

  it.scoped("all retries of a flight end within one deadline", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make({ latency: "4 seconds" })
      yield* endpoint.fail(failures.unavailable)
      const { millis, value } = yield* timed(Effect.flip(tokens.get), "11 seconds")
      assert.strictEqual(value._tag, "ServerError")
      assert.isAtMost(millis, 10_000)
      assert.isAtMost(yield* endpoint.requests, 3)
    }))

  it.scoped("when a retry gets no response before the deadline, callers get the failure before it, with deadlineEnded", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.unavailable)
      const caller = yield* Effect.fork(Effect.timed(Effect.flip(tokens.get)))
      yield* TestClock.adjust("100 millis")
      yield* endpoint.respond(() => Effect.never)
      yield* TestClock.adjust("9900 millis")
      const [duration, error] = yield* Fiber.join(caller)
      assert.deepInclude({ ...error }, { _tag: "ServerError", status: 503, deadlineEnded: true })
      assert.strictEqual(Duration.toMillis(duration), 10_000)
    }))

  it.scoped("after the last retry has failed, the failure does not have deadlineEnded, even if all requests fail alike", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.unavailable)
      const { value } = yield* timed(Effect.flip(tokens.get), "10 seconds")
      assert.strictEqual(yield* endpoint.requests, 3)
      assert.isTrue(value._tag === "ServerError" && value.deadlineEnded === undefined)
      assert.notInclude(value.message, "deadline")
    }))

  it.scoped("the first reset of a connection is retried at once, and the next one after a pause", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.reset)
      const caller = yield* Effect.fork(Effect.either(tokens.get))
      yield* TestClock.adjust("200 millis")
      assert.strictEqual(yield* endpoint.requests, 2)
      yield* TestClock.adjust("499 millis")
      assert.strictEqual(yield* endpoint.requests, 2)
      yield* TestClock.adjust("10 seconds")
      assert.isTrue(Either.isLeft(yield* Fiber.join(caller)))
      assert.strictEqual(yield* endpoint.requests, 3, "it counts as one of the two retries")
    }))

  it.scoped("a failure is remembered even if the logger throws", () =>
    Effect.gen(function*() {
      const throwing = Logger.make(() => {
        throw new Error("a logger that throws")
      })
      const { endpoint, tokens } = yield* Supply.make().pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, throwing))
      )
      yield* timed(tokens.get, "100 millis")
      yield* TestClock.adjust("50 minutes")
      yield* endpoint.fail(failures.unavailable)
      for (let call = 0; call < 150; call++) {
        yield* Effect.fork(Effect.exit(tokens.get))
        yield* TestClock.adjust("10 millis")
      }
      assert.isAtMost(yield* endpoint.requests, 4)
      assert.strictEqual((yield* tokens.status).lastFailure._tag, "Some")
    }))

  it.scoped("a flight does not wait for a pause that exceeds the deadline", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.unavailableFor("20 seconds"))
      const { millis } = yield* timed(Effect.flip(tokens.get), "10 seconds")
      assert.strictEqual(millis, 100)
      assert.strictEqual(yield* endpoint.requests, 1)
    }))

  it.scoped("a failure is remembered until nextTryAt: callers get it at once, and no request is sent", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.refused)
      const { value: error } = yield* timed(Effect.flip(tokens.get), "100 millis")
      assert.deepStrictEqual(error.nextTryAt, DateTime.unsafeMake(30_100))
      yield* TestClock.setTime(30_099)
      assert.deepStrictEqual(yield* Effect.flip(tokens.get), error)
      assert.strictEqual(yield* endpoint.requests, 1)
      yield* endpoint.recover
      yield* TestClock.setTime(30_100)
      assert.strictEqual(textOf((yield* timed(tokens.get, "100 millis")).value), "token-2")
    }))

  it.scoped("the message of a remembered failure has the time of the next attempt", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.refused)
      const { value } = yield* timed(Effect.flip(tokens.get), "100 millis")
      assert.include(value.message, "Next attempt not before 1970-01-01T00:00:30.100Z.")
    }))

  it.scoped("an endpoint that is dead for 3 minutes gets at most 20 requests under any load", () =>
    Effect.gen(function*() {
      for (const callers of [1, 10]) {
        const { endpoint, tokens } = yield* Supply.make()
        yield* endpoint.fail(failures.timeout)
        const load = Effect.forEach(Arr.range(1, callers), () => Effect.ignore(tokens.get), {
          concurrency: "unbounded"
        })
        const before = yield* TestClock.currentTimeMillis
        yield* Effect.fork(Effect.repeat(load, Schedule.spaced("1 second")))
        yield* TestClock.adjust("3 minutes")
        assert.strictEqual((yield* TestClock.currentTimeMillis) - before, 180_000)
        const requests = yield* endpoint.requests
        assert.isTrue(requests >= 6 && requests <= 20, String(requests))
      }
    }))
})

describe("retryWhenDue", () => {
  it.scoped("retryWhenDue runs an effect again at the supply's next attempt", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.unavailableFor("20 seconds"))
      const patient = yield* Effect.fork(TokenError.retryWhenDue(tokens.get, { times: 1 }))
      yield* TestClock.adjust("1 second")
      yield* endpoint.recover
      yield* TestClock.adjust("19 seconds")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(textOf(yield* Fiber.join(patient)), "token-2")
    }))

  it.scoped("retryWhenDue retries a retryable failure the given number of times, and no other failure", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.unavailableFor("20 seconds"))
      yield* timed(Effect.flip(tokens.get.pipe(TokenError.retryWhenDue({ times: 2 }))), "41 seconds")
      assert.strictEqual(yield* endpoint.requests, 3)
      yield* endpoint.fail(failures.refused)
      yield* TestClock.adjust("20 seconds")
      yield* timed(Effect.flip(tokens.get.pipe(TokenError.retryWhenDue({ times: 2 }))), "1 second")
      assert.strictEqual(yield* endpoint.requests, 4)
    }))

  it.effect("retryWhenDue outside a supply waits for Retry-After, and at least 1 second", () =>
    Effect.gen(function*() {
      const runs: Array<number> = []
      const failing = (error: TokenError.TokenError) =>
        Effect.flatMap(TestClock.currentTimeMillis, (now) => {
          runs.push(now)
          return Effect.fail(error)
        })
      for (
        const [error, wait] of [
          [failures.unavailableFor("30 seconds"), 30_000],
          [failures.unavailableFor("90 seconds"), 60_000],
          [failures.unavailableFor("100 millis"), 1_000],
          [failures.unavailable, 1_000],
          [failures.timeout, 1_000]
        ] as const
      ) {
        runs.length = 0
        const waiting = yield* Effect.fork(Effect.flip(TokenError.retryWhenDue(failing(error), { times: 2 })))
        yield* TestClock.adjust("3 minutes")
        yield* Fiber.join(waiting)
        const [first = 0] = runs
        assert.deepStrictEqual(runs.map((at) => at - first), [0, wait, 2 * wait])
      }
    }))

  it.effect("retryWhenDue returns other errors, and waits at most one minute after a clock was set back", () =>
    Effect.gen(function*() {
      let runs = 0
      const failing = <E>(error: E) => Effect.suspend(() => (runs++, Effect.fail(error)))
      assert.strictEqual(yield* Effect.flip(TokenError.retryWhenDue(failing("other"), { times: 2 })), "other")
      assert.strictEqual(runs, 1)
      const setBack = new TokenError.TransportError({ ...failures.timeout, nextTryAt: DateTime.unsafeMake(86_400_000) })
      const waiting = yield* Effect.fork(Effect.flip(TokenError.retryWhenDue(failing(setBack), { times: 1 })))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(waiting)
      assert.strictEqual(runs, 3)
      const past = new TokenError.TransportError({ ...failures.timeout, nextTryAt: DateTime.unsafeMake(-5) })
      yield* Effect.flip(TokenError.retryWhenDue(failing(past), { times: 1 }))
      assert.strictEqual(runs, 5)
    }))
})
