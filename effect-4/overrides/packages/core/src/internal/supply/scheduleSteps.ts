import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"

/** A schedule that is stepped by hand, because nothing sleeps through its delays. */
export interface ScheduleSteps<In> {
  /** The delay after this input, or `undefined` after the end of the schedule. */
  readonly next: (input: In) => Effect.Effect<Duration.Duration | undefined>
  /** Starts the schedule again. */
  readonly reset: () => void
}

export const make = <In>(schedule: Schedule.Schedule<unknown, In>): ScheduleSteps<In> => {
  let step: Effect.Success<ReturnType<typeof Schedule.toStep<unknown, In, never, never>>> | undefined
  return {
    next: Effect.fnUntraced(function*(input) {
      const now = yield* Clock.currentTimeMillis
      step ??= yield* Schedule.toStep(schedule)
      return yield* step(now, input).pipe(
        Effect.map(([, delay]): Duration.Duration | undefined => delay),
        Pull.catchDone(() => Effect.succeed(undefined))
      )
    }),
    reset: () => {
      step = undefined
    }
  }
}
