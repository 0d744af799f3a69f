import * as DateTime from "effect/DateTime"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { AccessToken } from "../../AccessToken.ts"
import type { TokenError } from "../../TokenError.ts"
import type { TokenPhase, TokenStatus } from "../../TokenStatus.ts"
import * as Instant from "../instant.ts"

// The life of a token, as the contract's section 3 draws it: what is known of it, what a caller gets at an instant, and
// the transitions from one state to the next. Nothing here does anything.

/** A token that is held, and the instants at which its phases begin. */
interface Held {
  readonly token: AccessToken
  readonly exit: Exit.Exit<AccessToken>
  /** The business API rejected it, and it is used only until there is another one. */
  readonly rejected: boolean
  readonly dueAt: Instant.Instant
  readonly expiringAt: Instant.Instant
  readonly expiresAt: Instant.Instant
}

/** A failure that is remembered. */
interface Failure {
  readonly exit: Exit.Exit<never, TokenError>
  readonly error: TokenError
  readonly nextTryAt: Instant.Instant
}

/** Everything that the supply knows. */
export interface State {
  readonly held: Held | undefined
  /** The last token request failed. */
  readonly failure: Failure | undefined
  /** The token that was rejected after the last token request was sent. */
  readonly rejected: AccessToken | undefined
  /** No rejected token is replaced before this instant. */
  readonly holdUntil: Instant.Instant | undefined
  /** A scope is missing, and no token is requested for it before this instant. */
  readonly missingScope: { readonly nextTryAt: Instant.Instant; readonly pauseMillis: number } | undefined
}

export const none: State = {
  held: undefined,
  failure: undefined,
  rejected: undefined,
  holdUntil: undefined,
  missingScope: undefined
}

/** The token, as long as it may be sent. */
export const servable = (state: State, now: Instant.Instant): Exit.Exit<AccessToken> | undefined =>
  state.held === undefined || Instant.reached(now, state.held.expiresAt) ? undefined : state.held.exit

/** The failure that is remembered, while it is too early for another token request. */
export const remembered = ({ failure }: State, now: Instant.Instant): Failure | undefined =>
  failure === undefined || Instant.reached(now, failure.nextTryAt) ? undefined : failure

/** Callers wait at most this long for the replacement of a rejected token, which may still be good for their calls. */
const longestPatience = 2_500

/** What a caller gets at an instant, decided from the state alone. */
export const decide = <A>(state: State, now: Instant.Instant, on: {
  /** The token. */
  readonly serve: (token: Exit.Exit<AccessToken>) => A
  /** The token, while a token request is made in the background. */
  readonly serveAndRenew: (token: Exit.Exit<AccessToken>) => A
  /** What a token request brings. */
  readonly await: () => A
  /** What a token request brings, or the token, if that takes longer than this many milliseconds. */
  readonly awaitFor: (patience: number) => A
  /** The failure that is remembered, because it is too early for the next request. */
  readonly fail: (failure: Exit.Exit<never, TokenError>) => A
}): A => {
  const { held } = state
  if (held !== undefined && !Instant.reached(now, held.dueAt)) return on.serve(held.exit)
  const failure = remembered(state, now)
  if (held === undefined || Instant.reached(now, held.expiresAt)) {
    return failure !== undefined ? on.fail(failure.exit) : on.await()
  }
  if (failure !== undefined) return on.serve(held.exit)
  const patience = Instant.millisUntil(now, held.expiresAt) / 2
  if (held.rejected) return on.awaitFor(Math.min(patience, longestPatience))
  return Instant.reached(now, held.expiringAt) ? on.awaitFor(patience) : on.serveAndRenew(held.exit)
}

/** What a caller gets in place of a token that the business API rejected. */
export const decideReplacement = <A>(state: State, rejected: AccessToken, now: Instant.Instant, on: {
  /** What any caller gets: another token has taken its place, or there is none. */
  readonly get: () => A
  /** The rejected token itself: it is too early for another renewal. */
  readonly serve: (token: Exit.Exit<AccessToken>) => A
  /** What a token request brings. */
  readonly await: () => A
  /** The failure that is remembered. */
  readonly fail: (failure: Exit.Exit<never, TokenError>) => A
}): A => {
  const { held } = state
  if (held === undefined || !isSame(held.token, rejected) || Instant.reached(now, held.expiresAt)) return on.get()
  if (!held.rejected) return on.serve(held.exit)
  const failure = remembered(state, now)
  return failure !== undefined ? on.fail(failure.exit) : on.await()
}

/** A token request is about to be sent: its answer takes an earlier rejection into account. */
export const requested = (state: State): State => ({ ...state, rejected: undefined })

/** Callers wait for a renewal when less than this is left of a token, and never more than a tenth of its life. */
const expiringMillis = 5_000

/**
 * A token came. Its life counts from its own instants, as the clocks stood before its request was sent. It becomes due when
 * the given share of its life has passed: early enough for a renewal in the background, before callers have to wait for it.
 * A token that was rejected meanwhile is due at once.
 */
export const obtained = (
  state: State,
  token: AccessToken,
  sentAt: Instant.Instant,
  options: { readonly dueShare: number; readonly missesScope: boolean }
): State => {
  const from = DateTime.toEpochMillis(token.requestedAt)
  const to = DateTime.toEpochMillis(token.expiresAt)
  const lifetime = to - from
  const margin = Math.min(expiringMillis, lifetime / 10)
  const rejected = isSame(state.rejected, token)
  const due = Instant.atWallTime(sentAt, from + Math.min(lifetime * options.dueShare, lifetime - margin * 1.5))
  return {
    ...state,
    held: {
      token,
      exit: Exit.succeed(token),
      rejected,
      dueAt: rejected ? sentAt : due,
      expiringAt: Instant.atWallTime(sentAt, to - margin),
      expiresAt: Instant.atWallTime(sentAt, to)
    },
    failure: undefined,
    missingScope: options.missesScope ? state.missingScope : undefined
  }
}

/** A token request failed; the token that is held stays. */
export const failed = (state: State, error: TokenError, nextTryAt: Instant.Instant): State => ({
  ...state,
  failure: { error, exit: Exit.fail(error), nextTryAt }
})

/** The cause of the failure was removed, as far as anybody outside knows: the next request need not wait. */
export const forgotten = (state: State): State => ({ ...state, failure: undefined })

const isSame = (a: AccessToken | undefined, b: AccessToken): boolean =>
  a !== undefined && Equal.equals(a.secret, b.secret)

/**
 * A token was rejected: if it is the one that is held, and the last such renewal is long enough ago, it has to be replaced.
 * It stays in use until then, for it may be good for other calls.
 */
export const invalidated = (state: State, token: AccessToken, now: Instant.Instant, limitMillis: number): State =>
  state.held !== undefined && isSame(state.held.token, token) && !state.held.rejected &&
    (state.holdUntil === undefined || Instant.reached(now, state.holdUntil))
    ? {
      ...state,
      held: { ...state.held, rejected: true, dueAt: now },
      rejected: token,
      holdUntil: Instant.later(now, limitMillis)
    }
    : state

/** A scope may be granted at any time, so the pauses between the requests for it end at one hour. */
const shortestScopePause = 60_000
const longestScopePause = 60 * 60_000

/** A call missed a scope: the state in which a token is requested for it, or the same state while it is too early. */
export const scopeMissed = (state: State, now: Instant.Instant): State => {
  const { missingScope } = state
  if (remembered(state, now) !== undefined) return state
  if (missingScope !== undefined && !Instant.reached(now, missingScope.nextTryAt)) return state
  const pauseMillis = missingScope === undefined
    ? shortestScopePause
    : Math.min(missingScope.pauseMillis * 2, longestScopePause)
  return { ...state, missingScope: { nextTryAt: Instant.later(now, pauseMillis), pauseMillis } }
}

/** No token is requested for a missing scope before this instant. */
export const nextTryForScope = (state: State, now: Instant.Instant): Instant.Instant =>
  remembered(state, now)?.nextTryAt ?? state.missingScope?.nextTryAt ?? now

const phase = ({ held }: State, now: Instant.Instant): TokenPhase => {
  if (held === undefined) return "None"
  if (!Instant.reached(now, held.dueAt)) return "Valid"
  if (!Instant.reached(now, held.expiringAt)) return "Due"
  return Instant.reached(now, held.expiresAt) ? "Expired" : "Expiring"
}

const wallTime = (instant: Instant.Instant | undefined): Option.Option<DateTime.Utc> =>
  instant === undefined ? Option.none() : DateTime.make(instant.wallMillis)

/** What may be shown of the state. */
export const status = (state: State, now: Instant.Instant): Omit<TokenStatus, "environment" | "missingScopes"> => ({
  phase: phase(state, now),
  rejected: state.held?.rejected ?? false,
  scopes: state.held?.token.scopes ?? [],
  expiresAt: Option.fromNullable(state.held?.token.expiresAt),
  nextRequestAt: wallTime(state.failure?.nextTryAt ?? state.held?.dueAt),
  lastFailure: Option.fromNullable(state.failure?.error)
})
