import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
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
  let millis = 0
  let changed = yield* Deferred.make<void>()

  const set = (change: (current: number) => number) =>
    Effect.flatMap(Deferred.make<void>(), (next) =>
      Effect.suspend(() => {
        const waiting = changed
        changed = next
        millis = change(millis)
        return Effect.asVoid(Deferred.succeed(waiting, undefined))
      }))

  const sleepUntil = (wakeAt: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const left = wakeAt - clock.unsafeCurrentTimeMillis()
      if (left <= 0) return Effect.void
      const slept = Effect.raceFirst(base.sleep(Duration.millis(left)), Deferred.await(changed))
      return Effect.zipRight(slept, sleepUntil(wakeAt))
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
