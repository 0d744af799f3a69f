import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { shifted } from "./shiftedClock.ts"

/** The Effect Clock plus an offset that can grow. */
export interface OffsetClock {
  readonly clock: Clock.Clock
  readonly advance: (duration: Duration.Duration) => Effect.Effect<void>
  readonly advanced: Effect.Effect<Duration.Duration>
  /** The time of the Effect Clock, for durations that contain no advance. */
  readonly elapsedMillis: Effect.Effect<number>
  readonly reset: Effect.Effect<void>
}

export const make: Effect.Effect<OffsetClock> = Effect.gen(function*() {
  const base = yield* Effect.clock
  const offset = yield* SubscriptionRef.make(0)
  let millis = 0

  const set = (change: (current: number) => number) =>
    Effect.suspend(() => {
      millis = change(millis)
      return SubscriptionRef.set(offset, millis)
    })

  const sleepUntil = (wakeAt: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const seen = millis
      const left = wakeAt - clock.unsafeCurrentTimeMillis()
      if (left <= 0) return Effect.void
      const advanced = offset.changes.pipe(
        Stream.filter((current) => current !== seen),
        Stream.take(1),
        Stream.runDrain
      )
      return Effect.zipRight(Effect.raceFirst(base.sleep(Duration.millis(left)), advanced), sleepUntil(wakeAt))
    })

  const clock: Clock.Clock = shifted(
    base,
    () => millis,
    (duration) => Effect.suspend(() => sleepUntil(clock.unsafeCurrentTimeMillis() + Duration.toMillis(duration)))
  )

  return {
    clock,
    advance: (duration) => set((current) => current + Duration.toMillis(duration)),
    elapsedMillis: base.currentTimeMillis,
    advanced: Effect.sync(() => Duration.millis(millis)),
    reset: set(() => 0)
  }
})
