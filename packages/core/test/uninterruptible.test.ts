import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { after } from "@credit-data/test-support/after"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import { textOf } from "./support/fakeEndpoint.ts"
import { caller, get, hang, replace, timeline, uninterruptible } from "./support/timeline.ts"
import { disconnected } from "../src/internal/within.ts"
import { makeTokenEndpoint } from "../src/internal/tokenEndpoint.ts"
import { make, options as endpointOptions } from "./support/tokenEndpoint.ts"
import * as FakeTransport from "./support/fakeTransport.ts"

const silent: FakeTransport.Outcome = Effect.never

describe("in an uninterruptible region", () => {
  it.effect("an uninterruptible token request keeps its deadline", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({}, silent)
      const request = Effect.uninterruptible(Effect.flip(endpoint.requestToken({ _tag: "Nothing" })))
      const { result, seconds } = yield* after("10 seconds", request)
      assert.deepInclude({ ...result, seconds }, { _tag: "TransportError", reason: "Timeout", seconds: 10 })
    }))

  it.effect("a token request in the finalizer of an interrupted fiber is sent, and keeps its deadline", () =>
    Effect.gen(function*() {
      const good = yield* make({}, FakeTransport.json(FakeTransport.granted))
      const dead = yield* make({}, silent)
      const ends: Array<string> = []
      const fiber = yield* Effect.never.pipe(
        Effect.ensuring(
          Effect.gen(function*() {
            ends.push(textOf(yield* good.requestToken({ _tag: "Nothing" })))
            ends.push((yield* Effect.flip(dead.requestToken({ _tag: "Nothing" })))._tag)
          }).pipe(Effect.orDie)
        ),
        Effect.forkDaemon
      )
      yield* TestClock.adjust("0 millis")
      yield* after("10 seconds", Fiber.interrupt(fiber))
      assert.deepStrictEqual(ends, ["an-access-token", "TransportError"])
    }))

  it.effect("a supply built in an uninterruptible region keeps the deadline in get, and ends its request with its scope", () =>
    Effect.gen(function*() {
      const transport = yield* FakeTransport.make(silent)
      const layer = AccessTokens.layer().pipe(
        Layer.provide(Layer.effect(TokenEndpoint.TokenEndpoint, makeTokenEndpoint(endpointOptions))),
        Layer.provide(transport.layer)
      )
      const scope = yield* Scope.make()
      const context = yield* Effect.uninterruptible(Layer.buildWithScope(layer, scope))
      const { get } = Context.get(context, AccessTokens.AccessTokens)
      assert.strictEqual((yield* after("10 seconds", Effect.flip(get))).result._tag, "TransportError")

      yield* TestClock.adjust("1 minute")
      const waiting = yield* Effect.fork(get)
      yield* TestClock.adjust("1 second")
      yield* Scope.close(scope, Exit.void)
      const { result } = yield* after("0 seconds", Effect.flip(Fiber.join(waiting)))
      assert.deepInclude({ ...result }, { _tag: "TransportError", reason: "Closed" })
    }))

  it.scoped("uninterruptible get waits for half of the remaining lifetime, and returns the valid token", () =>
    timeline([
      ["0 s", get],
      ["1 s", hang],
      ["9.1 s", uninterruptible(get), "waits"],
      ["9.549 s", caller(2), "waits"],
      ["9.55 s", caller(2), "token-1"]
    ], { lifetime: "10 seconds" }))

  it.scoped("uninterruptible replace keeps its deadline", () =>
    timeline([
      ["0 s", get],
      ["1 s", hang],
      ["1 s", uninterruptible(replace("token-1")), "waits"],
      ["12 s", caller(2), "Timeout"]
    ]))

  it.effect("building fails after the deadline when the credentials are never read, with an error that names them", () =>
    Effect.gen(function*() {
      const building = Effect.flip(make({ credentials: Effect.never, deadline: "3 seconds" }, silent))
      const { result } = yield* after("3 seconds", Effect.uninterruptible(building))
      assert.match(String(result), /at credentials:/)
    }))
})

describe("what ends in the background when it is interrupted", () => {
  it.live("ends even if it is interrupted in its first step", () =>
    Effect.gen(function*() {
      let isRunning = false
      const work = (parent: Fiber.RuntimeFiber<unknown, unknown>) =>
        Effect.suspend(() => {
          isRunning = true
          Effect.runFork(Fiber.interrupt(parent))
          return Effect.onExit(Effect.never, () => Effect.sync(() => (isRunning = false)))
        })
      const fiber = yield* Effect.fork(Effect.withFiberRuntime((parent) => disconnected(work(parent))))
      yield* Fiber.await(fiber)
      yield* Effect.replicateEffect(Effect.yieldNow(), 10)
      assert.isFalse(isRunning)
    }))
})
