import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Logger, Option, Schedule, TestClock } from "effect"
import { failures, textOf } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

const obtain = Effect.fnUntraced(function*(options: Parameters<typeof Supply.make>[0] = {}) {
  const supply = yield* Supply.make(options)
  const first = yield* Effect.fork(supply.tokens.get)
  yield* TestClock.adjust("100 millis")
  yield* Fiber.join(first)
  return { ...supply, text: Effect.map(supply.tokens.get, textOf) }
})

describe("renewal before expiry", () => {
  it.scoped("a token is reused until its renewal is due", () =>
    Effect.gen(function*() {
      const { endpoint, text } = yield* obtain()
      yield* TestClock.setTime(Duration.toMillis("48 minutes") - 1)
      assert.strictEqual(yield* text, "token-1")
      assert.strictEqual(yield* endpoint.requests, 1)
    }))

  it.scoped("a due token is renewed in the background when a caller requests a token, and callers keep the valid token", () =>
    Effect.gen(function*() {
      const { endpoint, text } = yield* obtain()
      yield* TestClock.setTime(Duration.toMillis("48 minutes"))
      assert.strictEqual(yield* endpoint.requests, 1, "no caller yet")
      assert.strictEqual(yield* text, "token-1")
      assert.strictEqual(yield* text, "token-1")
      yield* TestClock.adjust("0 millis")
      assert.strictEqual(yield* endpoint.requests, 2)
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* text, "token-2")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("the point of renewal is drawn once for each token, from Effect's Random, between 75 % and 90 %", () =>
    Effect.gen(function*() {
      const drawn = yield* Effect.forEach(["a", "b", "c", "d", "e", "f", "g", "h"], (seed) =>
        Effect.gen(function*() {
          const { tokens } = yield* obtain({ settings: { renewalWindow: undefined }, seed })
          const before = yield* tokens.status
          yield* tokens.get
          assert.deepStrictEqual((yield* tokens.status).nextRequestAt, before.nextRequestAt)
          const { expiresAt, nextRequestAt } = before
          return (DateTime.toEpochMillis(Option.getOrThrow(expiresAt)) -
            DateTime.toEpochMillis(Option.getOrThrow(nextRequestAt))) / 3_600_000
        }).pipe(Effect.scoped))
      for (const left of drawn) assert.isTrue(left >= 0.1 && left <= 0.25, String(left))
      assert.strictEqual(new Set(drawn).size, drawn.length)
    }))

  it.scoped("an idle program sends no request", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* obtain()
      yield* TestClock.adjust("10 days")
      assert.strictEqual(yield* endpoint.requests, 1)
    }))

  it.scoped("a token with a lifetime shorter than any window is renewed at a share of its lifetime, not on every call", () =>
    Effect.gen(function*() {
      const { endpoint, text } = yield* obtain({ lifetime: "1 second", latency: "1 millis" })
      yield* Effect.repeat(Effect.zipRight(text, TestClock.adjust("10 millis")), Schedule.recurs(300))
      const requests = yield* endpoint.requests
      assert.isTrue(requests >= 3 && requests <= 6, String(requests))
    }))
})

describe("a token that is about to expire", () => {
  it.scoped("callers wait for the renewal of a token with at most 5 s left", () =>
    Effect.gen(function*() {
      const { text } = yield* obtain()
      yield* TestClock.setTime(Duration.toMillis("1 hour") - 5_000)
      const waiting = yield* Effect.fork(text)
      yield* TestClock.adjust("99 millis")
      assert.isNotOk(waiting.unsafePoll())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(waiting), "token-2")
    }))

  it.scoped("callers do not wait for the renewal of a token with more than 5 s left", () =>
    Effect.gen(function*() {
      const { text } = yield* obtain()
      yield* TestClock.setTime(Duration.toMillis("1 hour") - 5_001)
      assert.strictEqual(yield* text, "token-1")
    }))

  it.scoped("when the renewal of an expiring token fails, callers get the valid token until its last millisecond", () =>
    Effect.gen(function*() {
      const { endpoint, text, tokens } = yield* obtain()
      yield* endpoint.fail(failures.unavailable)
      yield* TestClock.setTime(Duration.toMillis("1 hour") - 1_000)
      const waiting = yield* Effect.fork(text)
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* Fiber.join(waiting), "token-1")
      yield* TestClock.setTime(Duration.toMillis("1 hour") - 501)
      assert.strictEqual(yield* text, "token-1")
      yield* endpoint.fail(failures.refused)
      yield* TestClock.setTime(Duration.toMillis("1 hour") - 1)
      const last = yield* Effect.fork(text)
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* Fiber.join(last), "token-1")
      assert.strictEqual((yield* Effect.flip(tokens.get))._tag, "InvalidClient")
    }))

  it.scoped("when the renewal of an expiring token hangs, callers get the valid token after half of its remaining lifetime", () =>
    Effect.gen(function*() {
      const { endpoint, text } = yield* obtain()
      yield* endpoint.respond(() => Effect.never)
      yield* TestClock.setTime(Duration.toMillis("1 hour") - 4_000)
      const waiting = yield* Effect.fork(text)
      yield* TestClock.adjust("1999 millis")
      assert.isNotOk(waiting.unsafePoll())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(waiting), "token-1")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  it.scoped("callers wait only in the last tenth of the lifetime, and renewal is due before that", () =>
    Effect.gen(function*() {
      const { endpoint, text } = yield* obtain({
        lifetime: "2 seconds",
        settings: { renewalWindow: { from: 1, to: 1 } }
      })
      yield* TestClock.setTime(1_699)
      assert.strictEqual(yield* text, "token-1")
      assert.strictEqual(yield* endpoint.requests, 1)
      yield* TestClock.setTime(1_700)
      yield* endpoint.respond(() => Effect.never)
      assert.strictEqual(yield* text, "token-1")
      yield* TestClock.setTime(1_799)
      assert.strictEqual(yield* endpoint.requests, 2)
      assert.strictEqual(yield* text, "token-1")
      yield* TestClock.setTime(1_800)
      const waiting = yield* Effect.fork(text)
      yield* Effect.yieldNow()
      assert.isNotOk(waiting.unsafePoll())
    }))
})

describe("a renewal that fails", () => {
  it.scoped("a failed renewal keeps the valid token, and pauses for 1 s, doubling to 60 s, with equal jitter", () =>
    Effect.gen(function*() {
      const { endpoint, text, tokens } = yield* obtain()
      yield* endpoint.fail(failures.unavailable)
      yield* TestClock.setTime(Duration.toMillis("48 minutes"))
      const pauses: Array<number> = []
      for (let round = 0; round < 9; round++) {
        const before = yield* endpoint.requests
        assert.strictEqual(yield* text, "token-1")
        yield* TestClock.adjust("100 millis")
        assert.strictEqual(yield* endpoint.requests, before + 1)
        const failedAt = yield* TestClock.currentTimeMillis
        const nextTryAt = DateTime.toEpochMillis(Option.getOrThrow((yield* tokens.status).nextRequestAt))
        pauses.push(nextTryAt - failedAt)
        yield* TestClock.setTime(nextTryAt - 1)
        assert.strictEqual(yield* text, "token-1")
        assert.strictEqual(yield* endpoint.requests, before + 1, "no request within the pause")
        yield* TestClock.setTime(nextTryAt)
      }
      const full = [1, 2, 4, 8, 16, 32, 60, 60, 60]
      pauses.forEach((pause, index) => {
        const seconds = full[index] ?? Number.NaN
        assert.isTrue(pause >= seconds * 500 && pause <= seconds * 1000, `${pause} of ${seconds} s`)
      })
      yield* endpoint.recover
      assert.strictEqual(yield* text, "token-1")
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* text, "token-11")
      assert.isTrue(Option.isNone((yield* tokens.status).lastFailure))
    }))

  it.scoped("a new streak of failures starts with the shortest pause", () =>
    Effect.gen(function*() {
      const { endpoint, text, tokens } = yield* obtain({ lifetime: "10 minutes" })
      const failOnce = Effect.gen(function*() {
        yield* endpoint.fail(failures.unavailable)
        yield* text
        yield* TestClock.adjust("100 millis")
        const next = DateTime.toEpochMillis(Option.getOrThrow((yield* tokens.status).nextRequestAt))
        const pause = next - (yield* TestClock.currentTimeMillis)
        yield* endpoint.recover
        yield* TestClock.setTime(next)
        yield* text
        yield* TestClock.adjust("100 millis")
        return pause
      })
      yield* TestClock.adjust("8 minutes")
      assert.isTrue((yield* failOnce) <= 1_000)
      yield* TestClock.adjust("8 minutes")
      assert.isTrue((yield* failOnce) <= 1_000)
    }))

  it.scoped("a pause follows Retry-After, unless that is under a second", () =>
    Effect.gen(function*() {
      const { endpoint, text, tokens } = yield* obtain()
      const pauseAfter = Effect.fnUntraced(function*(seconds: Duration.DurationInput) {
        yield* endpoint.fail(failures.unavailableFor(seconds))
        yield* text
        yield* TestClock.adjust("100 millis")
        const next = DateTime.toEpochMillis(Option.getOrThrow((yield* tokens.status).nextRequestAt))
        const pause = next - (yield* TestClock.currentTimeMillis)
        yield* TestClock.setTime(next)
        return pause
      })
      yield* TestClock.setTime(Duration.toMillis("48 minutes"))
      assert.strictEqual(yield* pauseAfter("7 seconds"), 7_000)
      assert.strictEqual(yield* pauseAfter("60 seconds"), 60_000)
      // a backoff would be at least 2 s by now
      assert.strictEqual(yield* pauseAfter("1 second"), 1_000)
      const jittered = yield* pauseAfter(0)
      assert.isTrue(jittered >= 4_000 && jittered <= 8_000, String(jittered))
    }))

  it.scoped("the pause after a refusal is 30 s", () =>
    Effect.gen(function*() {
      const { endpoint, text, tokens } = yield* obtain()
      yield* TestClock.setTime(Duration.toMillis("48 minutes"))
      for (const failure of [failures.refused, failures.outside, failures.tls]) {
        yield* endpoint.fail(failure)
        yield* text
        yield* TestClock.adjust("100 millis")
        const next = DateTime.toEpochMillis(Option.getOrThrow((yield* tokens.status).nextRequestAt))
        assert.strictEqual(next - (yield* TestClock.currentTimeMillis), 30_000)
        yield* TestClock.setTime(next)
      }
    }))

  it.scoped("a failed renewal is logged once per streak", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel.label === "WARN") logged.push(String(message))
    })
    return Effect.gen(function*() {
      const { endpoint, text } = yield* obtain()
      yield* endpoint.fail(failures.unavailable)
      yield* TestClock.setTime(Duration.toMillis("48 minutes"))
      yield* Effect.repeat(Effect.zipRight(text, TestClock.adjust("30 seconds")), Schedule.recurs(5))
      assert.isAbove(yield* endpoint.requests, 3)
      assert.strictEqual(logged.length, 1)
      assert.include(logged[0], "An access token could not be renewed; the current token remains in use.")
      yield* endpoint.recover
      yield* TestClock.adjust("60 seconds")
      yield* text
      yield* TestClock.adjust("48 minutes")
      yield* endpoint.fail(failures.unavailable)
      yield* text
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(logged.length, 2)
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })

  it.scoped("a failed renewal is not retried without a caller while there is a valid token", () =>
    Effect.gen(function*() {
      const { endpoint, text } = yield* obtain()
      yield* endpoint.fail(failures.unavailable)
      yield* TestClock.setTime(Duration.toMillis("48 minutes"))
      yield* text
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))
})
