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

/**
 * The milliseconds until an instant: by the clock on which it comes first, for the other may have been set back, or may have
 * stood still while the machine was suspended.
 */
export const millisUntil = (now: Instant, instant: Instant): number =>
  Math.min(instant.wallMillis - now.wallMillis, millisBetween(now, instant))

/** The instant of a wall time, as the two clocks stood at another instant. */
export const atWallTime = (reference: Instant, wallMillis: number): Instant =>
  later(reference, wallMillis - reference.wallMillis)
