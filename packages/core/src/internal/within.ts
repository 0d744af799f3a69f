import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"

/**
 * Ends an effect when its time is over, also where nothing can be interrupted: within an uninterruptible region, and without
 * waiting for a part that cannot be interrupted itself. (`Effect.timeout` alone waits for both.)
 */
export const within =
  <E1>(duration: Duration.DurationInput, onTimeout: LazyArg<E1>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | E1, R> =>
    Effect.timeoutFail(Effect.interruptible(Effect.disconnect(self)), { duration, onTimeout })
