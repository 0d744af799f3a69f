import { Duration, Effect, Fiber, TestClock } from "effect"

/**
 * The result of an effect when this much of the test's time has passed, and after how many seconds it ended. Dies at once if it has not
 * ended by then: joining its fiber would wait for ever.
 */
export const after = Effect.fnUntraced(
  function*<A, E, R>(time: Duration.DurationInput, effect: Effect.Effect<A, E, R>) {
    const fiber = yield* Effect.forkDaemon(Effect.timed(effect))
    yield* TestClock.adjust(time)
    if (fiber.unsafePoll() === null) {
      return yield* Effect.die(new Error(`It has not ended after ${Duration.toSeconds(time)} s`))
    }
    const [took, result] = yield* Fiber.join(fiber)
    return { result, seconds: Duration.toSeconds(took) }
  }
)
