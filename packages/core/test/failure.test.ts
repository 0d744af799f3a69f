import { TokenError } from "@credit-data/core"
import { after } from "@credit-data/test-support/after"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, TestClock } from "effect"
import { failures } from "./support/fakeEndpoint.ts"
import {
  caller,
  fail,
  get,
  hang,
  lastFailure,
  many,
  nextRequestAt,
  recover,
  requests,
  retryWhenDue,
  type Step,
  timeline
} from "./support/timeline.ts"

describe("a failure without a valid token", () => {
  for (
    const [failure, random, second, third] of [
      [failures.unavailable, 0, "0.6 s", "1.7 s"],
      [failures.unavailable, 1, "1.1 s", "3.2 s"],
      [failures.limited, 0, "0.6 s", "1.7 s"]
    ] as const
  ) {
    it.scoped(`a flight retries a ${failure.endpointStatus} up to twice, after pauses with a jitter of ${random}, and then fails`, () =>
      timeline([
        ["0 s", fail(failure)],
        ["0 s", get, "waits", requests(1)],
        [`${second} -1 ms`, caller(1), "waits", requests(1)],
        [second, caller(1), "waits", requests(2)],
        [`${third} -1 ms`, caller(1), "waits", requests(2)],
        [third, caller(1), "waits", requests(3)],
        [`${third} 100 ms`, caller(1), "ServerError", requests(3)]
      ], { random }))
  }

  it.scoped("callers do not see the failure when a retry succeeds", () =>
    timeline([
      ["0 s", fail(failures.timeout)],
      ["0 s", get],
      ["200 ms", recover],
      ["1.199 s", caller(1), "waits"],
      ["1.2 s", caller(1), "token-2"]
    ]))

  it.scoped("a failure that is not retryable is not retried", () =>
    timeline([
      ["0 s", fail(failures.refused)],
      ["0 s", get],
      ["100 ms", caller(1), "InvalidClient"],
      ["20 s", caller(1), "InvalidClient", requests(1)]
    ]))

  it.scoped("all retries of a flight end within one deadline", () =>
    timeline([
      ["0 s", fail(failures.unavailable)],
      ["0 s", get],
      ["9 s", caller(1), "ServerError", requests(2)],
      ["20 s", caller(1), "ServerError", requests(2)]
    ], { latency: "4 seconds" }))

  it.scoped("when a retry gets no response before the deadline, callers get the failure before it", () =>
    timeline([
      ["0 s", fail(failures.unavailable)],
      ["0 s", get],
      ["200 ms", hang],
      ["9.999 s", caller(1), "waits", requests(2)],
      ["10 s", caller(1), "ServerError"]
    ]))

  it.scoped("the first reset of a connection is retried at once, and the next one after a pause", () =>
    timeline([
      ["0 s", fail(failures.reset)],
      ["0 s", get],
      ["100 ms", caller(1), "waits", requests(2)],
      ["2.199 s", caller(1), "waits", requests(2)],
      ["2.2 s", caller(1), "waits", requests(3)], // it counts as one of the two retries
      ["20 s", caller(1), "Reset", requests(3)]
    ]))

  it.scoped("a failure is remembered even if the logger throws", () =>
    timeline([
      ["0 s", get],
      ["50 min", fail(failures.unavailable)],
      ["50 min", get, "token-1", requests(2)],
      ["50 min 200 ms", many(100, get), "token-1", requests(2)],
      ["50 min 200 ms", lastFailure(({ _tag }) => _tag), "ServerError"]
    ], {
      onLog: (line) => {
        if (line.startsWith("WARN")) throw new Error("a logger that throws")
      }
    }))

  it.scoped("a flight does not wait for a pause that exceeds the deadline", () =>
    timeline([
      ["0 s", fail(failures.unavailableFor("20 seconds"))],
      ["0 s", get],
      ["100 ms", caller(1), "ServerError", requests(1)]
    ]))

  it.scoped("a failure is remembered until nextTryAt: callers get it at once, and no request is sent", () =>
    timeline([
      ["0 s", fail(failures.refused)],
      ["0 s", get],
      ["100 ms", lastFailure(({ nextTryAt }) => nextTryAt), DateTime.unsafeMake(30_100)],
      ["30.099 s", get, "InvalidClient", requests(1)],
      ["30.099 s", recover],
      ["30.1 s", get, "waits", requests(2)],
      ["30.2 s", caller(3), "token-2"]
    ]))

  it.scoped("the message of a remembered failure has the time of the next attempt", () =>
    timeline([
      ["0 s", fail(failures.refused)],
      ["0 s", get],
      [
        "1 s",
        lastFailure(({ message }) => /Next attempt.*/.exec(message)?.[0]),
        "Next attempt not before 1970-01-01T00:00:30.100Z."
      ]
    ]))

  for (const callers of [1, 10]) {
    it.scoped(`an endpoint that is dead for 3 minutes gets at most 20 requests under any load: ${callers} calls per second`, () =>
      timeline([
        ["0 s", fail(failures.timeout)],
        ...Array.from({ length: 180 }, (_, second): Step => [`${second} s`, many(callers, get)]),
        ["3 min", get, "Timeout", requests(11)]
      ], { random: 0 }))
  }
})

describe("a renewal that fails", () => {
  for (
    const [failure, random, share] of [
      [failures.unavailable, 0, 0.5],
      [failures.unavailable, 1, 1],
      [failures.limited, 1, 1]
    ] as const
  ) {
    it.scoped(`a failed renewal keeps the valid token, and pauses for 1 s, doubling to 60 s, with equal jitter: ${failure.endpointStatus}, ${random}`, () => {
      let at = 48 * 60_000
      const rounds = [1, 2, 4, 8, 16, 32, 60, 60, 60].flatMap((seconds, index): ReadonlyArray<Step> => {
        const sentAt = at
        at += 100 + seconds * 1_000 * share
        return [
          [`${sentAt} ms`, get, "token-1", requests(index + 2)],
          [`${at - 1} ms`, get, "token-1", requests(index + 2)]
        ]
      })
      return timeline([
        ["0 s", get],
        ["47 min", fail(failure)],
        ...rounds,
        [`${at} ms`, recover],
        [`${at} ms`, get, "token-1", requests(11)],
        [`${at + 100} ms`, get, "token-11"],
        [`${at + 100} ms`, lastFailure(({ _tag }) => _tag), undefined]
      ], { random })
    })
  }

  it.scoped("a new streak of failures starts with the shortest pause", () =>
    timeline([
      ["0 s", get],
      ["8 min", fail(failures.unavailable)],
      ["8 min", get],
      ["8 min 100 ms", nextRequestAt, 481.1],
      ["8 min 100 ms", recover],
      ["8 min 2 s", get],
      ["16 min 2 s", fail(failures.unavailable)],
      ["16 min 2 s", get, "token-3"],
      ["16 min 2.1 s", nextRequestAt, 963.1]
    ], { lifetime: "10 minutes" }))

  it.scoped("a pause follows Retry-After, unless that is under a second", () =>
    timeline([
      ["0 s", get],
      ["2880 s", fail(failures.unavailableFor("7 seconds"))],
      ["2880 s", get],
      ["2880.1 s", nextRequestAt, 2_887.1],
      ["2890 s", fail(failures.unavailableFor("60 seconds"))],
      ["2890 s", get],
      ["2890.1 s", nextRequestAt, 2_950.1],
      ["2960 s", fail(failures.unavailableFor("1 second"))],
      ["2960 s", get],
      ["2960.1 s", nextRequestAt, 2_961.1], // the pause after three failures would be 4 s
      ["2970 s", fail(failures.unavailableFor("999 millis"))],
      ["2970 s", get],
      ["2970.1 s", nextRequestAt, 2_978.1]
    ]))

  for (const name of ["refused", "outside", "tls"] as const) {
    it.scoped(`the pause after a refusal is 30 s: ${name}`, () =>
      timeline([
        ["0 s", get],
        ["48 min", fail(failures[name])],
        ["48 min", get],
        ["48 min 30.099 s", get, "token-1", requests(2)],
        ["48 min 30.1 s", get, "token-1", requests(3)]
      ]))
  }

  it.scoped("the pause after a refusal of another process lasts only as long as it is shared", () =>
    timeline([
      ["0 s", fail(new TokenError.InvalidClient({ ...failures.refused, sharedUntil: DateTime.unsafeMake(5_000) }))],
      ["0 s", get],
      ["1 s", nextRequestAt, 6], // up to a second later, so that not all processes try at the same time
      ["6 s", fail(new TokenError.InvalidClient({ ...failures.refused, sharedUntil: DateTime.unsafeMake(5_000) }))],
      ["6 s", get],
      ["7 s", nextRequestAt, 7.1],
      [
        "8 s",
        fail(
          new TokenError.ServerError({
            ...failures.unavailable,
            endpointStatus: 400,
            sharedUntil: DateTime.unsafeMake(90_000)
          })
        )
      ],
      ["8 s", get],
      ["9 s", nextRequestAt, 39.1] // a server that refuses is asked again after 30 s, whatever another process says
    ]))

  it.scoped("a failed renewal is not retried without a caller while there is a valid token", () =>
    timeline([
      ["0 s", get],
      ["48 min", fail(failures.unavailable)],
      ["48 min", get],
      ["53 min", lastFailure(({ _tag }) => _tag), "ServerError", requests(2)]
    ]))
})

describe("retryWhenDue", () => {
  it.scoped("retryWhenDue runs an effect again at the supply's next attempt", () =>
    timeline([
      ["0 s", fail(failures.unavailableFor("20 seconds"))],
      ["0 s", retryWhenDue(1)],
      ["1 s", recover],
      ["20.099 s", caller(1), "waits", requests(1)],
      ["21 s", caller(1), "token-2", requests(2)]
    ]))

  it.scoped("retryWhenDue waits for the longest pause of a limited client", () =>
    timeline([
      ["0 s", fail(failures.limitedFor("60 seconds"))],
      ["0 s", retryWhenDue(3)],
      ["50 s", recover],
      ["60.099 s", caller(1), "waits", requests(1)],
      ["61 s", caller(1), "token-2", requests(2)]
    ]))

  it.scoped("retryWhenDue retries a retryable failure the given number of times, and no other failure", () =>
    timeline([
      ["0 s", fail(failures.unavailableFor("20 seconds"))],
      ["0 s", retryWhenDue(2)],
      ["41 s", caller(1), "ServerError", requests(3)],
      ["70 s", fail(failures.refused)],
      ["70 s", retryWhenDue(2)],
      ["71 s", caller(2), "InvalidClient", requests(4)]
    ]))

  /** At which milliseconds an effect that always fails with this error runs. */
  const runs = (error: unknown, times: number) =>
    Effect.gen(function*() {
      const at: Array<number> = []
      const failing = Effect.flatMap(TestClock.currentTimeMillis, (now) => {
        at.push(now)
        return Effect.fail(error)
      })
      const { result } = yield* after("3 minutes", Effect.flip(TokenError.retryWhenDue(failing, { times })))
      assert.strictEqual(result, error)
      return at
    })
  const dueAt = (millis: number) =>
    new TokenError.TransportError({ ...failures.timeout, nextTryAt: DateTime.unsafeMake(millis) })

  for (
    const [name, error, expected] of [
      ["waits for Retry-After outside a supply", failures.unavailableFor("30 seconds"), [0, 30_000, 60_000]],
      ["waits for at most a minute", failures.unavailableFor("90 seconds"), [0, 60_000, 120_000]],
      ["waits for at most a minute after a clock was set back", dueAt(86_400_000), [0, 60_000, 120_000]],
      ["waits for at least a second", failures.unavailableFor("100 millis"), [0, 1_000, 2_000]],
      ["waits for a second after another failure", failures.timeout, [0, 1_000, 2_000]],
      ["does not wait for an instant in the past", dueAt(-5), [0, 0, 0]],
      ["returns other errors", "other", [0]]
    ] as const
  ) {
    it.effect(`retryWhenDue ${name}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* runs(error, 2), [...expected])
      }))
  }
})
