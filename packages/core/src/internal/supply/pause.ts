import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { TokenError } from "../../TokenError.ts"
import * as ScheduleSteps from "./scheduleSteps.ts"

/** How long a failure that is not retryable is remembered. */
const refusalPause = Duration.seconds(30)

const shortestPause = Duration.millis(100)
const longestPause = Duration.seconds(60)
const longestUserPause = Duration.days(1)

/** Pauses that double from 1 s to 60 s. Half of each pause is fixed, the other half is random. */
export const doubling: Schedule.Schedule<Duration.Duration, TokenError> = Schedule.exponential("1 second").pipe(
  Schedule.modifyDelay((_, delay) => Duration.min(delay, longestPause)),
  Schedule.jitteredWith({ min: 0.5, max: 1 })
)

/** The pauses within a streak of failures, for one streak after another. */
export interface Pauses {
  /** How long to wait after this failure before the next token request. */
  readonly after: (error: TokenError) => Effect.Effect<Duration.Duration>
  /** Ends the streak. */
  readonly reset: () => void
}

/**
 * Takes the pauses between token requests from a schedule. After the end of the schedule, each pause is the longest one. Every
 * pause has a minimum, so that a dead endpoint never gets requests without a pause.
 */
export const make = (schedule: Schedule.Schedule<unknown, TokenError>): Pauses => {
  const steps = ScheduleSteps.make(schedule)
  const step = (error: TokenError) =>
    Effect.map(steps.next(error), (delay) =>
      delay === undefined || !Duration.isFinite(delay)
        ? longestPause
        : Duration.clamp(Duration.millis(Math.round(Duration.toMillis(delay))), {
          minimum: shortestPause,
          maximum: longestUserPause
        }))
  return {
    reset: steps.reset,
    after: (error) => {
      if (!error.retryable) return Effect.succeed(refusalPause)
      const requested = error._tag === "ServerError" ? error.retryAfter : undefined
      return Effect.map(
        // the user's schedule may throw, and a pause is needed even then
        Effect.catchAllDefect(step(error), () => Effect.succeed(longestPause)),
        (pause) =>
          requested !== undefined && Duration.greaterThanOrEqualTo(requested, Duration.seconds(1)) ? requested : pause
      )
    }
  }
}
