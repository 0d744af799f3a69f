import * as Duration from "effect/Duration"
import type { TokenError } from "../../TokenError.ts"
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
  /** The flight retries until then. */
  readonly deadlineAt: Instant.Instant
}

/** The transports do not report whether the server had closed an idle connection, so the first reset is retried at once. */
export const isRetriedAtOnce = (state: Life.State, { at, error, retriesLeft }: Failed): boolean =>
  Life.validToken(state, at) === undefined && retriesLeft === retries && error._tag === "TransportError" &&
  error.reason === "Reset"

/** When the next token request may be sent after this failure and its pause, and whether this flight sends it. */
export const decide = (
  state: Life.State,
  { at, deadlineAt, error, retriesLeft }: Failed,
  pause: Duration.Duration
): { readonly nextTryAt: Instant.Instant; readonly isRetried: boolean } => {
  const nextTryAt = Instant.later(at, Duration.toMillis(pause))
  const isRetried = Life.validToken(state, at) === undefined && error.retryable && retriesLeft > 0 &&
    Instant.millisBetween(nextTryAt, deadlineAt) > 0
  return { nextTryAt, isRetried }
}
