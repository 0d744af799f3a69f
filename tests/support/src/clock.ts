import { Clock, type Duration, Effect } from "effect"

/** Makes a Clock from its two readings and its `sleep`. */
export const make = (parts: {
  readonly wallMillis: () => number
  readonly monotonicNanos: () => bigint
  readonly sleep: (duration: Duration.Duration) => Effect.Effect<void>
}): Clock.Clock => ({
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: parts.wallMillis,
  unsafeCurrentTimeNanos: parts.monotonicNanos,
  currentTimeMillis: Effect.sync(parts.wallMillis),
  currentTimeNanos: Effect.sync(parts.monotonicNanos),
  sleep: parts.sleep
})
