import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"

/** Interrupting this returns at once, while the effect itself ends in the background. */
export const disconnected = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.interruptible(Effect.disconnect(self))

/**
 * Ends an effect when its time is over, even within an uninterruptible region. Does not wait for a part of the effect that cannot
 * be interrupted. (`Effect.timeout` waits in both cases.)
 */
export const within =
  <E1>(time: Duration.DurationInput, onTimeout: LazyArg<E1>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | E1, R> =>
    Effect.timeoutFail(disconnected(self), { duration: time, onTimeout: () => onTimeout() })
