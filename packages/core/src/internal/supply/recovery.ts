import * as Duration from "effect/Duration"
import type { TokenError } from "../../TokenError.ts"
import { amend } from "../amend.ts"
import * as Instant from "../instant.ts"
import * as Life from "./tokenLife.ts"

// What follows a failed token request. All functions are pure.

/** How often a flight retries after a retryable failure when there is no valid token. */
export const retries = 2

/** A token request that failed. */
export interface Failed {
  readonly error: TokenError
  readonly at: Instant.Instant
  /** How many retries the flight has left. */
  readonly retriesLeft: number
  /** When the flight ends. */
  readonly endsAt: Instant.Instant
}

/** The transports do not report whether the server had closed an idle connection, so the first reset is retried at once. */
export const isRetriedAtOnce = (state: Life.State, { at, error, retriesLeft }: Failed): boolean =>
  Life.servable(state, at) === undefined && retriesLeft === retries && error._tag === "TransportError" &&
  error.reason === "Reset"

/** Decides from the state and the pause after this failure whether the flight sends the request again. */
export const decide = <A>(
  state: Life.State,
  { at, endsAt, error, retriesLeft }: Failed,
  pause: Duration.Duration,
  on: {
    /** After the pause, the request is sent again. */
    readonly retry: (failure: TokenError) => A
    /** The flight ends. The new state remembers the failure, and keeps the token. */
    readonly giveUp: (failure: TokenError, state: Life.State) => A
  }
): A => {
  const nextTryAt = Instant.later(at, Duration.toMillis(pause))
  const failure = amend(error, { nextTryAt: Instant.wallTime(nextTryAt) })
  const hasToken = Life.servable(state, at) !== undefined
  return !hasToken && error.retryable && retriesLeft > 0 && Instant.millisBetween(nextTryAt, endsAt) > 0
    ? on.retry(failure)
    : on.giveUp(failure, Life.failed(state, failure, nextTryAt))
}
