import type * as Clock from "effect/Clock"

/**
 * A point in time on both clocks. The wall clock can be set, and the monotonic clock stops while a machine is
 * suspended, so that neither is to be trusted alone.
 */
export interface Instant {
  readonly wallMillis: number
  readonly monotonicNanos: bigint
}

/** The present. */
export const now = (clock: Clock.Clock): Instant => ({
  wallMillis: clock.unsafeCurrentTimeMillis(),
  monotonicNanos: clock.unsafeCurrentTimeNanos()
})

/** The instant that lies so much later. */
export const later = (instant: Instant, millis: number): Instant => ({
  wallMillis: instant.wallMillis + millis,
  monotonicNanos: instant.monotonicNanos + BigInt(Math.round(millis * 1e6))
})

/** Has it come? It has as soon as one of the clocks says so: too early is harmless here, too late isn't. */
export const reached = (now: Instant, instant: Instant): boolean =>
  now.wallMillis >= instant.wallMillis || now.monotonicNanos >= instant.monotonicNanos

/** The milliseconds from one instant to another, by the clock that can't be set. */
export const millisBetween = (from: Instant, to: Instant): number =>
  Number(to.monotonicNanos - from.monotonicNanos) / 1e6
