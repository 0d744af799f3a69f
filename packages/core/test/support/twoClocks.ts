import { Duration, Effect } from "effect"
import * as ClockParts from "./clock.ts"

/**
 * A Clock whose wall clock and monotonic clock can part, as they do when a clock is set or a machine sleeps. Time passes
 * only when it is told to; who sleeps on it sleeps for ever.
 */
export const make = () => {
  let wallMillis = 1_700_000_000_000
  let monotonicNanos = 5_000_000_000n
  const clock = ClockParts.make({
    wallMillis: () => wallMillis,
    monotonicNanos: () => monotonicNanos,
    sleep: () => Effect.never
  })
  // a Duration is never negative
  const setWall = (millis: number) => {
    wallMillis += millis
  }
  const runMonotonic = (by: Duration.DurationInput) => {
    monotonicNanos += BigInt(Duration.toMillis(by)) * 1_000_000n
  }
  return {
    clock,
    /** Somebody sets the wall clock ahead, or the machine wakes up from sleep. */
    jumpAhead: (by: Duration.DurationInput) => setWall(Duration.toMillis(by)),
    /** Somebody sets the wall clock back. */
    jumpBack: (by: Duration.DurationInput) => setWall(-Duration.toMillis(by)),
    /** Time passes. */
    pass: (by: Duration.DurationInput) => {
      setWall(Duration.toMillis(by))
      runMonotonic(by)
    }
  }
}
