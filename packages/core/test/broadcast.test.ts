import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope, Stream, TestClock } from "effect"
import * as Broadcast from "../src/internal/broadcast.ts"

/** Waits until every fiber that can continue has done so. */
const settled = TestClock.adjust(0)

/** A broadcast that keeps three values for each listener. */
const setUp = Effect.gen(function*() {
  const { publish, stream } = yield* Broadcast.make<number>(3)
  /** A listener that takes this many values, or all of them, and continues after each value when it is awake. */
  const listen = (count = Number.MAX_SAFE_INTEGER, awake: Effect.Effect<void> = Effect.void) =>
    stream.pipe(
      Stream.take(count),
      Stream.tap(() => awake),
      Stream.runCollect,
      Effect.map((values) => Array.from(values)),
      Effect.fork,
      Effect.tap(settled)
    )
  return {
    listen,
    publish: (...values: ReadonlyArray<number>) =>
      Effect.forEach(values, (value) => publish(() => value), { discard: true }),
    publishMade: publish
  }
})

describe("the events of a supply", () => {
  it.scoped("lose the oldest for a listener that is too far behind", () =>
    Effect.gen(function*() {
      const { listen, publish } = yield* setUp
      const awake = yield* Deferred.make<void>()
      const slow = yield* listen(4, Deferred.await(awake))
      yield* publish(1)
      yield* settled
      yield* publish(2, 3, 4)
      yield* publish(5, 6)
      yield* Deferred.succeed(awake, undefined)
      assert.deepStrictEqual(yield* Fiber.join(slow), [1, 4, 5, 6])
    }))

  it.scoped("are not made without a listener, even after the last listener has left", () =>
    Effect.gen(function*() {
      const { listen, publish, publishMade } = yield* setUp
      const unmade = publishMade(() => assert.fail("the value was made"))
      yield* unmade
      const leaving = yield* listen(1)
      yield* publish(1)
      assert.deepStrictEqual(yield* Fiber.join(leaving), [1])
      yield* unmade
    }))

  it.live("end for a listener that begins while the scope closes", () =>
    Effect.gen(function*() {
      for (const steps of [12, 16, 20]) {
        for (let turns = 0; turns < 40; turns++) {
          const scope = yield* Scope.make()
          const { stream } = yield* Scope.extend(Broadcast.make<number>(3), scope)
          const listener = yield* Effect.fork(Stream.runDrain(stream).pipe(Effect.withMaxOpsBeforeYield(steps)))
          yield* Effect.replicateEffect(Effect.yieldNow(), turns)
          yield* Scope.close(scope, Exit.void)
          yield* Fiber.join(listener).pipe(
            Effect.timeoutFail({ duration: "5 seconds", onTimeout: () => `after ${turns} turns of ${steps} steps` })
          )
        }
      }
    }))
})
