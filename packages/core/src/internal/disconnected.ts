import * as Effect from "effect/Effect"

/** Interrupting this returns at once, while the effect itself ends in the background. */
export const disconnected = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.interruptible(Effect.disconnect(self))
