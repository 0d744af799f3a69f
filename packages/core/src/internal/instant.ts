import type * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"

/**
 * A point in time on both clocks. The wall clock can be set, and the monotonic clock stops while a machine is
 * suspended, so neither is reliable without the other.
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

/** Milliseconds by the clock that cannot be set. They count from an instant that means nothing. */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

/** The instant that is this much later. */
export const later = (instant: Instant, millis: number): Instant => ({
  wallMillis: instant.wallMillis + millis,
  monotonicNanos: instant.monotonicNanos + BigInt(Math.round(millis * 1e6))
})

/** Returns whether one of the clocks has reached the instant. One is enough: too early is harmless here, too late is not. */
export const reached = (now: Instant, instant: Instant): boolean =>
  now.wallMillis >= instant.wallMillis || now.monotonicNanos >= instant.monotonicNanos

/** The milliseconds from one instant to another, on the clock that cannot be set. */
export const millisBetween = (from: Instant, to: Instant): number =>
  Number(to.monotonicNanos - from.monotonicNanos) / 1e6

/**
 * The milliseconds until an instant, on the clock that reaches it first. The other clock may have been set back, or may have
 * stopped while the machine was suspended.
 */
export const millisUntil = (now: Instant, instant: Instant): number =>
  Math.min(instant.wallMillis - now.wallMillis, millisBetween(now, instant))

/** The instant of a wall time, calculated from the reading of both clocks at a reference instant. */
export const atWallTime = (reference: Instant, wallMillis: number): Instant =>
  later(reference, wallMillis - reference.wallMillis)

/** The wall time of an instant. */
export const wallTime = (instant: Instant): DateTime.Utc => DateTime.unsafeMake(instant.wallMillis)
