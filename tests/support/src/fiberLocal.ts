import { Effect, FiberRef } from "effect"

/** A value that a fiber reads without naming it in its type. */
export const fiberLocal = (initial: string) => {
  const ref = FiberRef.unsafeMake(initial)
  return {
    get: FiberRef.get(ref),
    locally: (value: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.locally(effect, ref, value)
  }
}
