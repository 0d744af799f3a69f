import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { AccessToken } from "../AccessToken.ts"
import type { TokenError } from "../TokenError.ts"
import type { TokenPhase, TokenStatus } from "../TokenStatus.ts"
import { type Instant, later, millisBetween, reached } from "./instant.ts"

// The life of a token, as the contract's section 3 draws it: what is known of it, what a caller gets at an instant, and
// the transitions from one state to the next. Nothing here does anything.

/** A token that is held, and the instants at which its phases begin. */
interface Held {
  readonly token: AccessToken
  readonly exit: Exit.Exit<AccessToken>
  readonly dueAt: Instant
  readonly expiringAt: Instant
  readonly expiresAt: Instant
}

/** A failure that is remembered. */
interface Failure {
  readonly exit: Exit.Exit<never, TokenError>
  readonly error: TokenError
  readonly nextTryAt: Instant
}

/** All that the supply knows. */
export interface State {
  readonly held: Held | undefined
  /** The last token request failed. */
  readonly failure: Failure | undefined
  /** The token that was rejected while a token request was under way. */
  readonly rejected: AccessToken | undefined
  /** Until when a rejected token isn't dropped. */
  readonly holdUntil: Instant | undefined
}

export const none: State = { held: undefined, failure: undefined, rejected: undefined, holdUntil: undefined }

/** The token, as long as it may be sent. */
export const servable = (state: State, now: Instant): Exit.Exit<AccessToken> | undefined =>
  state.held === undefined || reached(now, state.held.expiresAt) ? undefined : state.held.exit

/** What a caller gets at an instant, decided from the state alone. */
export const decide = <A>(state: State, now: Instant, on: {
  /** The token. */
  readonly serve: (token: Exit.Exit<AccessToken>) => A
  /** The token, while a token request is made in the background. */
  readonly serveAndRenew: (token: Exit.Exit<AccessToken>) => A
  /** What a token request brings. */
  readonly await: () => A
  /** What a token request brings, or the token, if that takes longer than so many milliseconds. */
  readonly awaitFor: (patience: number) => A
  /** The failure that is remembered, for it is too early to ask again. */
  readonly fail: (failure: Exit.Exit<never, TokenError>) => A
}): A => {
  const { failure, held } = state
  if (held !== undefined && !reached(now, held.dueAt)) return on.serve(held.exit)
  const tooEarly = failure !== undefined && !reached(now, failure.nextTryAt)
  if (held === undefined || reached(now, held.expiresAt)) return tooEarly ? on.fail(failure.exit) : on.await()
  if (tooEarly) return on.serve(held.exit)
  return reached(now, held.expiringAt)
    ? on.awaitFor(millisBetween(now, held.expiresAt) / 2)
    : on.serveAndRenew(held.exit)
}

/** A token request is about to be sent: a token that was rejected before is no news to its answer. */
export const requested = (state: State): State => ({ ...state, rejected: undefined })

/** Callers wait for a renewal when less than this is left of a token, and never more than a tenth of its life. */
const expiringMillis = 5_000

/**
 * A token came. Its life counts from the instant before its request was sent, and it becomes due when the given share
 * of its life has passed: early enough for a renewal in the background, before callers have to wait for it.
 */
export const obtained = (state: State, token: AccessToken, sentAt: Instant, dueShare: number): State => {
  const lifetime = Duration.toMillis(DateTime.distanceDuration(token.requestedAt, token.expiresAt))
  const margin = Math.min(expiringMillis, lifetime / 10)
  const expiring = lifetime - margin
  return {
    ...state,
    held: {
      token,
      exit: Exit.succeed(token),
      dueAt: later(sentAt, Math.min(lifetime * dueShare, expiring - margin / 2)),
      expiringAt: later(sentAt, expiring),
      expiresAt: later(sentAt, lifetime)
    },
    failure: undefined
  }
}

/** A token request failed; the token that is held stays. */
export const failed = (state: State, error: TokenError, nextTryAt: Instant): State => ({
  ...state,
  failure: { error, exit: Exit.fail(error), nextTryAt }
})

const isSame = (a: AccessToken | undefined, b: AccessToken): boolean =>
  a !== undefined && Equal.equals(a.secret, b.secret)

/** Was this token rejected while it was on its way? */
export const isRejected = (state: State, token: AccessToken): boolean => isSame(state.rejected, token)

/**
 * A token was rejected: it is dropped if it is the one that is held, and if the last one that was dropped so is long
 * enough ago.
 */
export const invalidated = (state: State, token: AccessToken, now: Instant, limitMillis: number): State =>
  isSame(state.held?.token, token) && (state.holdUntil === undefined || reached(now, state.holdUntil))
    ? { ...state, held: undefined, rejected: token, holdUntil: later(now, limitMillis) }
    : state

const phase = ({ held }: State, now: Instant): TokenPhase => {
  if (held === undefined) return "None"
  if (!reached(now, held.dueAt)) return "Valid"
  if (!reached(now, held.expiringAt)) return "Due"
  return reached(now, held.expiresAt) ? "Expired" : "Expiring"
}

const wallTime = (instant: Instant | undefined): Option.Option<DateTime.Utc> =>
  instant === undefined ? Option.none() : DateTime.make(instant.wallMillis)

/** What may be shown of the state. */
export const status = (state: State, now: Instant): Omit<TokenStatus, "environment"> => ({
  phase: phase(state, now),
  scopes: state.held?.token.scopes ?? [],
  expiresAt: Option.fromNullable(state.held?.token.expiresAt),
  nextRequestAt: wallTime(state.failure?.nextTryAt ?? state.held?.dueAt),
  lastFailure: Option.fromNullable(state.failure?.error)
})
