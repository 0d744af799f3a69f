import { Effect, Fiber, TestClock } from "effect"

/**
 * The result of an effect that waits for the test's clock, which goes on in steps of 100 ms by default. Work that needs no timer (a body that
 * is read, a key that is derived) gets real time before each step: 2 ms by default. Dies when `limit` seconds are over.
 */
export const whileTimePasses = Effect.fnUntraced(function*<A, E, R>(
  effect: Effect.Effect<A, E, R>,
  { limit = 600, realMillis = 2, stepMillis = 100 }: {
    readonly limit?: number
    readonly realMillis?: number
    readonly stepMillis?: number
  } = {}
) {
  const fiber = yield* Effect.fork(effect)
  for (let steps = 0; fiber.unsafePoll() === null; steps++) {
    if (steps * stepMillis > limit * 1_000) {
      return yield* Effect.die(new Error(`the effect has not ended after ${limit} s of the test's clock`))
    }
    yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, realMillis)))
    yield* TestClock.adjust(stepMillis)
  }
  return yield* Fiber.join(fiber)
})
