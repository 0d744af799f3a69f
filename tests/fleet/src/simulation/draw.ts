import { Effect, Random } from "effect"

/** A source of random numbers. */
export interface Draw {
  /** A number from 0 up to 1. */
  readonly next: () => number
}

/** The generator mulberry32: the same numbers for the same seed, on every machine. */
export const seeded = (seed: number): Draw => {
  let state = seed
  return {
    next: () => {
      state = (state + 0x6d2b79f5) | 0
      let bits = Math.imul(state ^ (state >>> 15), 1 | state)
      bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
      return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
    }
  }
}

/** Always the same number. */
export const constant = (value: number): Draw => ({ next: () => value })

export const between = (draw: Draw, from: number, to: number): number => from + (to - from) * draw.next()

/** These numbers as a service of Effect. */
export const service = (draw: Draw): Random.Random => ({
  [Random.RandomTypeId]: Random.RandomTypeId,
  next: Effect.sync(draw.next),
  nextBoolean: Effect.sync(() => draw.next() < 0.5),
  nextInt: Effect.sync(() => Math.floor(between(draw, 0, Number.MAX_SAFE_INTEGER))),
  nextRange: (min, max) => Effect.sync(() => between(draw, min, max)),
  nextIntBetween: (min, max) => Effect.sync(() => Math.floor(between(draw, min, max))),
  shuffle: () => Effect.dieMessage("The simulation does not shuffle.")
})
