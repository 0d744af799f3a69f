import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/** Interrupting this returns at once, while the effect itself ends in the background. */
export const disconnected = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  // an interruption between the fork and the join would leave the fiber running
  Effect.uninterruptible(
    Effect.flatMap(
      Effect.forkDetach(Effect.interruptible(self), { startImmediately: true }),
      (fiber) =>
        Effect.onInterrupt(
          Effect.interruptible(Fiber.join(fiber)),
          () => Effect.sync(() => fiber.interruptUnsafe())
        )
    )
  )
