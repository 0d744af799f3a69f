import { Effect, Random } from "effect"

/** Draws always this number, from 0 to 1. */
export const withConstantRandom =
  (value: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withRandom(effect, {
      [Random.RandomTypeId]: Random.RandomTypeId,
      next: Effect.succeed(value),
      nextBoolean: Effect.succeed(value >= 0.5),
      nextInt: Effect.succeed(value),
      nextRange: (min, max) => Effect.succeed(min + (max - min) * value),
      nextIntBetween: (min, max) => Effect.succeed(Math.floor(min + (max - min) * value)),
      shuffle: () => Effect.dieMessage("nothing is shuffled")
    })
