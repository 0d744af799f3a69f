import { Duration, Effect } from "effect"
import * as ClockParts from "@credit-data/test-support/clock"

/**
 * A Clock whose wall clock and monotonic clock can differ, as they do after a clock is set or a machine was suspended. Time
 * passes only through the functions below. A fiber that sleeps on this clock never wakes up.
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
    /** The wall clock is set ahead, or the machine resumes after it was suspended. */
    jumpAhead: (by: Duration.DurationInput) => setWall(Duration.toMillis(by)),
    /** The wall clock is set back. */
    jumpBack: (by: Duration.DurationInput) => setWall(-Duration.toMillis(by)),
    /** Time passes on both clocks. */
    pass: (by: Duration.DurationInput) => {
      setWall(Duration.toMillis(by))
      runMonotonic(by)
    }
  }
}
