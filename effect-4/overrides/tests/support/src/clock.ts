import { type Clock, type Duration, Effect } from "effect"

/** Makes a Clock from its two readings and its `sleep`. */
export const make = (parts: {
  readonly wallMillis: () => number
  readonly monotonicNanos: () => bigint
  readonly sleep: (duration: Duration.Duration) => Effect.Effect<void>
}): Clock.Clock => {
  const wallNanos = () => BigInt(Math.round(parts.wallMillis() * 1e6))
  return {
    currentTimeMillisUnsafe: parts.wallMillis,
    currentTimeNanosUnsafe: wallNanos,
    monotonicTimeNanosUnsafe: parts.monotonicNanos,
    currentTimeMillis: Effect.sync(parts.wallMillis),
    currentTimeNanos: Effect.sync(wallNanos),
    monotonicTimeNanos: Effect.sync(parts.monotonicNanos),
    sleep: parts.sleep
  }
}
