import { Effect, Random } from "effect"

/** Draws always this number, from 0 to 1. */
export const withConstantRandom =
  (value: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(effect, Random.Random, {
      nextDoubleUnsafe: () => value,
      nextIntUnsafe: () => Math.floor(value)
    })
