import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import { textOf } from "./support/fakeEndpoint.ts"
import { caller, get, hang, replace, timeline, uninterruptible } from "./support/timeline.ts"
import { make, options as endpointOptions } from "./support/tokenEndpoint.ts"
import * as FakeTransport from "./support/fakeTransport.ts"

const silent: FakeTransport.Outcome = Effect.never

describe("in an uninterruptible region", () => {
  it.effect("an uninterruptible token request keeps its deadline", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({}, silent)
      const request = yield* Effect.fork(
        Effect.uninterruptible(Effect.timed(Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))))
      )
      yield* TestClock.adjust("10 seconds")
      const [time, error] = yield* Fiber.join(request)
      assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Timeout" })
      assert.strictEqual(Duration.toSeconds(time), 10)
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
        Effect.fork
      )
      yield* TestClock.adjust("0 millis")
      const interrupted = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(interrupted)
      assert.deepStrictEqual(ends, ["an-access-token", "TransportError"])
    }))

  it.effect("a supply built in an uninterruptible region keeps the deadline in get, and ends its request with its scope", () =>
    Effect.gen(function*() {
      const transport = yield* FakeTransport.make(silent)
      const layer = AccessTokens.layer().pipe(
        Layer.provide(Layer.effect(TokenEndpoint.TokenEndpoint, TokenEndpoint.make(endpointOptions))),
        Layer.provide(transport.layer)
      )
      const scope = yield* Scope.make()
      const context = yield* Effect.acquireRelease(
        Layer.buildWithScope(layer, scope),
        () => Effect.void
      ).pipe(Effect.scoped, Effect.uninterruptible)
      const tokens = Context.get(context, AccessTokens.AccessTokens)

      const late = yield* Effect.fork(Effect.flip(tokens.get))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(late))._tag, "TransportError")

      yield* TestClock.adjust("1 minute")
      const waiting = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("1 second")
      yield* Scope.close(scope, Exit.void)
      assert.deepInclude({ ...(yield* Effect.flip(Fiber.join(waiting))) }, { _tag: "TransportError", reason: "Closed" })
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
      const reading = yield* Effect.fork(
        Effect.uninterruptible(Effect.flip(make({ credentials: Effect.never, deadline: "3 seconds" }, silent)))
      )
      yield* TestClock.adjust("3 seconds")
      assert.match(String(yield* Fiber.join(reading)), /at credentials:/)
      assert.include(String(yield* Fiber.join(reading)), "The credentials were not read within 3s")
    }))
})
