import { Duration, Effect } from "effect"
import * as ClockParts from "./clock.ts"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/**
 * A Clock whose time passes only when a test calls `pass`. It does what TestClock does in a hundredth of the time, because a
 * model-based test lets time pass very often.
 */
export const make = () => {
  let now = 0
  let sleepers: ReadonlyArray<Sleeper> = []
  const clock = ClockParts.make({
    wallMillis: () => now,
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
    for (let turn = 0; turn < 8; turn++) await new Promise<void>((resume) => setImmediate(resume))
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

  return { clock, settle, pass: (millis: number) => Effect.suspend(() => passTo(now + millis)) }
}
