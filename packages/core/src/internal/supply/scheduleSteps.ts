import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"

/** A schedule that is stepped by hand, because nothing sleeps through its delays. */
export interface ScheduleSteps<In> {
  /** The delay after this input, or `undefined` after the end of the schedule. */
  readonly next: (input: In) => Effect.Effect<Duration.Duration | undefined>
  /** Starts the schedule again. */
  readonly reset: () => void
}

export const make = <In>(schedule: Schedule.Schedule<unknown, In>): ScheduleSteps<In> => {
  let state = schedule.initial
  return {
    next: Effect.fnUntraced(function*(input) {
      const now = yield* Clock.currentTimeMillis
      const [next, , decision] = yield* schedule.step(now, input, state)
      state = next
      return ScheduleDecision.isContinue(decision)
        ? Duration.millis(ScheduleIntervals.start(decision.intervals) - now)
        : undefined
    }),
    reset: () => {
      state = schedule.initial
    }
  }
}
