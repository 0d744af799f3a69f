import type * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

const nanosPerMilli = BigInt(1_000_000)

/** A clock that is ahead of another clock by these milliseconds, and that sleeps in its own way. */
export const shifted = (
  base: Clock.Clock,
  millis: () => number,
  sleep: (duration: Duration.Duration) => Effect.Effect<void>
): Clock.Clock => {
  const nanos = () => BigInt(Math.round(millis())) * nanosPerMilli
  return {
    currentTimeMillisUnsafe: () => base.currentTimeMillisUnsafe() + millis(),
    currentTimeNanosUnsafe: () => base.currentTimeNanosUnsafe() + nanos(),
    monotonicTimeNanosUnsafe: () => base.monotonicTimeNanosUnsafe() + nanos(),
    currentTimeMillis: Effect.map(base.currentTimeMillis, (now) => now + millis()),
    currentTimeNanos: Effect.map(base.currentTimeNanos, (now) => now + nanos()),
    monotonicTimeNanos: Effect.map(base.monotonicTimeNanos, (now) => now + nanos()),
    sleep
  }
}
