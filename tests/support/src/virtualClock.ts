import { type Clock, Duration, Effect } from "effect"
import * as ClockParts from "./clock.ts"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/**
 * Time that passes only when a test calls `pass`. It does what TestClock does in a hundredth of the time, because a model-based
 * test lets time pass very often.
 */
export const make = (options: {
  /** Whether work is under way that needs no timer, such as WebCrypto's. Default: never. */
  readonly isBusy?: () => boolean
} = {}) => {
  let now = 0
  let sleepers: ReadonlyArray<Sleeper> = []
  /** A clock whose wall time is this much ahead. */
  const clockOf = (aheadMillis: () => number): Clock.Clock =>
    ClockParts.make({
      wallMillis: () => now + aheadMillis(),
      monotonicNanos: () => BigInt(Math.round(now * 1e6)),
      sleep: (duration) =>
        Effect.async((resume) => {
          const sleeper = { at: now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
          sleepers = [...sleepers, sleeper]
          return Effect.sync(() => {
            sleepers = sleepers.filter((each) => each !== sleeper)
          })
        })
    })
  /** Lets every fiber run until it waits for something. Each fork may take a turn of the event loop. */
  const settle = Effect.promise(async () => {
    for (let turn = 0; turn < 8; turn++) {
      if (options.isBusy?.() === true) turn = 0
      await new Promise<void>((resume) => setImmediate(resume))
    }
  })

  const passTo = (target: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const [next] = sleepers.filter(({ at }) => at <= target).toSorted((a, b) => a.at - b.at)
      if (next === undefined) {
        now = target
        return settle
      }
      now = Math.max(now, next.at)
      sleepers = sleepers.filter((each) => each !== next)
      next.wake()
      return Effect.zipRight(settle, passTo(target))
    })

  return {
    now: () => now,
    /** The timers that have not ended. */
    timers: () => sleepers.length,
    clock: clockOf(() => 0),
    clockOf,
    settle,
    pass: (millis: number) => Effect.flatMap(settle, () => passTo(now + millis))
  }
}
