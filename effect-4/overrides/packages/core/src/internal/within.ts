import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { LazyArg } from "effect/Function"

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

/**
 * Ends an effect when its time is over, even within an uninterruptible region. Does not wait for a part of the effect that cannot
 * be interrupted. (`Effect.timeout` waits in both cases.)
 */
export const within =
  <E1>(time: Duration.Input, onTimeout: LazyArg<E1>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | E1, R> =>
    Effect.timeoutOrElse(disconnected(self), { duration: time, orElse: () => Effect.fail(onTimeout()) })
