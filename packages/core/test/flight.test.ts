import { AccessTokens } from "@credit-data/core"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, TestClock } from "effect"
import * as FakeEndpoint from "./support/fakeEndpoint.ts"
import { failures } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"
import {
  aborted,
  caller,
  callers,
  close,
  fail,
  get,
  interrupt,
  isUsable,
  lastFailure,
  log,
  many,
  missScope,
  phase,
  recover,
  refresh,
  reject,
  replace,
  requests,
  respond,
  timeline,
  timers,
  uninterruptible
} from "./support/timeline.ts"

/** Starts it outside of every other effect, as a tracer would. */
const start = <A, E>(effect: Effect.Effect<A, E>) => Effect.runFork(effect)

/** What Effect names an interruption without a cause. */
const interruption = Exit.match(Effect.runSyncExit(Effect.interrupt), {
  onFailure: (cause) => String(Object(Cause.squash(cause)).name),
  onSuccess: () => "none"
})

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

  for (
    const [name, endpoint, outcome] of [
      ["10 000 cold callers cause one request and get its token", recover, "token-1"],
      ["10 000 cold callers cause one request and get its failure", fail(failures.refused), "InvalidClient"]
    ] as const
  ) {
    it.scoped(name, () =>
      timeline([
        ["0 s", endpoint],
        ["0 s", many(10_000, get), "waits", requests(1)],
        ["100 ms", callers(10_000), outcome, requests(1)]
      ]))
  }

  it.scoped("a caller that is interrupted does not affect the others", () =>
    timeline([
      ["0 s", get],
      ["10 ms", many(2, get)],
      ["20 ms", interrupt(1)],
      ["20 ms", interrupt(2)],
      ["100 ms", caller(1), "interrupted"],
      ["100 ms", caller(2), "interrupted"],
      ["100 ms", caller(3), "token-1", requests(1)],
      ["1 s", aborted, 0]
    ]))

  it.scoped("no timer remains after a token request, a failure, a replacement or a caller that gave up", () =>
    timeline([
      ["0 s", get],
      ["100 ms", timers, 0],
      ["1 s", replace("token-1")],
      ["1.1 s", timers, 0],
      ["2 h", fail(failures.refused)],
      ["2 h", get],
      ["2 h 100 ms", timers, 0],
      ["3 h", recover],
      ["3 h", uninterruptible(replace("token-2"))],
      ["3 h", replace("token-2")],
      ["3 h", get],
      ["3 h", interrupt(4)],
      ["3 h 100 ms", timers, 0]
    ]))

  it.scoped("a flight continues when all its callers are gone", () =>
    timeline([
      ["0 s", get],
      ["10 ms", interrupt(1)],
      ["100 ms", get, "token-1", requests(1)]
    ]))

  it.scoped("callers during a renewal get the valid token, or join the renewal when the token has expired", () =>
    timeline([
      ["0 s", get],
      ["8.5 s", get, "token-1", requests(2)],
      ["10.5 s", many(2, get), "waits"],
      ["11.5 s", callers(2), "token-2", requests(2)]
    ], { lifetime: "10 seconds", latency: "3 seconds" }))

  for (
    const [how, broken, died] of [
      ["dies with an error", Effect.die(new RangeError("a bug")), "RangeError"],
      ["dies with another value", Effect.die("a bug"), "a value that is not an error"],
      ["interrupts itself", Effect.interrupt, interruption]
    ] as const
  ) {
    it.scoped(`the defect of a token endpoint that ${how} reaches the callers, and no token is requested for a minute`, () =>
      timeline([
        ["0 s", respond(() => broken)],
        ["0 s", get],
        ["1 s", caller(1), "died", requests(1)],
        ["1 s", many(100, get), "died", requests(1)],
        ["1 s", isUsable, false],
        ["1 s", lastFailure(({ _tag }) => _tag), "TransportError"],
        [
          "1 s",
          log,
          [
            `ERROR The token request to https://v2.example/oauth2/token (test) died with ${died}. ` +
            "Fix your TokenEndpoint, tracer or logger: requestToken must fail with a TokenError. The next attempt is in 60 seconds."
          ]
        ],
        ["1 s", recover],
        ["1 min 100 ms", get, "waits"],
        ["1 min 200 ms", caller(102), "token-2"],
        ["50 min", respond(() => broken)],
        ["50 min", many(100, get), "token-2", requests(3)],
        ["50 min 1 s", many(100, get), "token-2", requests(3)]
      ]))
  }
})

describe("closing the scope of the layer", () => {
  it.scoped("closing the scope aborts the token request, and waiting callers fail with Closed, even uninterruptible callers", () =>
    timeline([
      ["0 s", get],
      ["0 s", uninterruptible(get)],
      ["10 ms", close],
      ["10 ms", callers(2), "Closed"],
      ["10 ms", aborted, 1],
      ["10 ms", lastFailure(({ retryable }) => retryable), false]
    ]))

  it.scoped("closing the scope aborts a token request that an uninterruptible caller began", () =>
    timeline([
      ["0 s", uninterruptible(get)],
      ["10 ms", close],
      ["10 ms", caller(1), "Closed"],
      ["10 ms", aborted, 1]
    ]))

  it.scoped("after the scope has closed, callers fail with Closed, even if a token was valid, and no request is sent", () =>
    timeline([
      ["0 s", get],
      ["1 s", get, "token-1"],
      ["1 s", close],
      ["1 s", get, "Closed"],
      ["1 s", refresh, "Closed"],
      ["1 s", replace("token-1"), "Closed"],
      ["1 s", reject("token-1")],
      ["1 s", missScope("furnishment:all")],
      ["1 h", phase, "None", requests(1)]
    ]))
})

describe("settings", () => {
  const build = (settings: AccessTokens.Settings) =>
    Effect.flatMap(
      FakeEndpoint.make(),
      ({ layer }) => Layer.build(AccessTokens.layer(settings).pipe(Layer.provide(layer)))
    )
      .pipe(Effect.scoped, Effect.flip, Effect.map(String))

  it.effect("an invalid setting is a ConfigError that names it", () =>
    Effect.gen(function*() {
      for (const [from, to] of [[Number.NaN, 1], [0, 1], [0.9, 0.8], [0.5, 1.1]] as const) {
        assert.include(yield* build({ renewalWindow: { from, to } }), "renewalWindow: \"Expected 0 < from <= to <= 1\"")
      }
    }))
})
