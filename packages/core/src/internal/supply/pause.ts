import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { TokenError } from "../../TokenError.ts"
import * as ScheduleSteps from "./scheduleSteps.ts"

/** How long a failure is remembered that no retry can mend. */
const refusalPause = Duration.seconds(30)

const shortestPause = Duration.millis(100)
const longestPause = Duration.seconds(60)
const longestOfUsers = Duration.days(1)

/** The pause that doubles from 1 s to 60 s, half of it fixed and half of it random. */
export const doubling: Schedule.Schedule<Duration.Duration, TokenError> = Schedule.exponential("1 second").pipe(
  Schedule.modifyDelay((_, delay) => Duration.min(delay, longestPause)),
  Schedule.jitteredWith({ min: 0.5, max: 1 })
)

/** The pauses of one streak of failures after the other. */
export interface Pauses {
  /** How long to wait after this failure before the next token request. */
  readonly after: (error: TokenError) => Effect.Effect<Duration.Duration>
  /** The streak has ended. */
  readonly reset: () => void
}

/**
 * Paces the token requests by a schedule. A schedule that has come to its end means the longest pause, and none is so short that a
 * dead endpoint would be asked without a pause.
 */
export const make = (schedule: Schedule.Schedule<unknown, TokenError>): Pauses => {
  const steps = ScheduleSteps.make(schedule)
  const step = (error: TokenError) =>
    Effect.map(steps.next(error), (delay) =>
      delay === undefined || !Duration.isFinite(delay)
        ? longestPause
        : Duration.clamp(Duration.millis(Math.round(Duration.toMillis(delay))), {
          minimum: shortestPause,
          maximum: longestOfUsers
        }))
  return {
    reset: steps.reset,
    after: (error) => {
      if (!error.retryable) return Effect.succeed(refusalPause)
      const asked = error._tag === "ServerError" ? error.retryAfter : undefined
      return Effect.map(
        // a schedule of the user's may throw, and the pause must hold all the same
        Effect.catchAllDefect(step(error), () => Effect.succeed(longestPause)),
        (pause) => asked !== undefined && Duration.greaterThanOrEqualTo(asked, Duration.seconds(1)) ? asked : pause
      )
    }
  }
}
