import * as DateTime from "effect/DateTime"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { AccessToken } from "../../AccessToken.ts"
import type { TokenError } from "../../TokenError.ts"
import type { Replaces } from "../../Replaces.ts"
import type { TokenPhase } from "../../TokenStatus.ts"
import * as Instant from "../instant.ts"

// The life of a token (contract, section 3): its state, what a caller gets at an instant, and the transitions from one state to
// the next. All functions are pure.

/** The supply's current token, and the instants at which its phases begin. */
interface Held {
  readonly token: AccessToken
  readonly exit: Exit.Exit<AccessToken>
  /** The business API rejected the token. It is used only until there is another one. */
  readonly rejected: boolean
  /** A token that was not rejected until then is accepted by the business API. */
  readonly provenAt: Instant.Instant
  readonly dueAt: Instant.Instant
  readonly expiringAt: Instant.Instant
  readonly expiresAt: Instant.Instant
}

/** A remembered failure. */
interface Failure {
  readonly exit: Exit.Exit<never, TokenError>
  readonly error: TokenError
  readonly nextTryAt: Instant.Instant
}

/** The whole state of the supply. */
export interface State {
  readonly held: Held | undefined
  /** The failure of the last token request, if it failed. */
  readonly failure: Failure | undefined
  /** The token requests that have failed since the last one that succeeded. */
  readonly streak: { readonly failures: number; readonly since: Instant.Instant } | undefined
  /** How many tokens in a row were rejected before they were proven. */
  readonly rejections: number
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
  streak: undefined,
  rejections: 0,
  rejected: undefined,
  holdUntil: undefined,
  missingScope: undefined
}

/** The token, while it may be sent. */
export const validToken = (state: State, now: Instant.Instant): Exit.Exit<AccessToken> | undefined =>
  state.held === undefined || Instant.reached(now, state.held.expiresAt) ? undefined : state.held.exit

/** The remembered failure, while it is too early for another token request. */
export const remembered = ({ failure }: State, now: Instant.Instant): Failure | undefined =>
  failure === undefined || Instant.reached(now, failure.nextTryAt) ? undefined : failure

/** Callers wait at most this long for a replacement, because the rejected token may still work for their calls. */
const longestPatience = 2_500

/** Decides from the state what a caller gets at an instant. */
export const decide = <A>(state: State, now: Instant.Instant, on: {
  /** The token. */
  readonly returnToken: (token: Exit.Exit<AccessToken>) => A
  /** The token, while a token request is made in the background. */
  readonly returnAndRenew: (now: Instant.Instant, token: Exit.Exit<AccessToken>) => A
  /** The outcome of a token request. */
  readonly await: (now: Instant.Instant) => A
  /** The outcome of a token request; or the token, if the request takes longer than this many milliseconds. */
  readonly awaitFor: (now: Instant.Instant, patience: number) => A
  /** The remembered failure, because it is too early for the next request. */
  readonly fail: (failure: Exit.Exit<never, TokenError>) => A
}): A => {
  const { held } = state
  if (held !== undefined && !Instant.reached(now, held.dueAt)) return on.returnToken(held.exit)
  const failure = remembered(state, now)
  if (held === undefined || Instant.reached(now, held.expiresAt)) {
    return failure !== undefined ? on.fail(failure.exit) : on.await(now)
  }
  if (failure !== undefined) return on.returnToken(held.exit)
  const patience = Instant.millisUntil(now, held.expiresAt) / 2
  if (held.rejected) return on.awaitFor(now, Math.min(patience, longestPatience))
  return Instant.reached(now, held.expiringAt) ? on.awaitFor(now, patience) : on.returnAndRenew(now, held.exit)
}

/** Decides what a caller gets instead of a token that the business API rejected. */
export const decideReplacement = <A>(state: State, rejected: AccessToken, now: Instant.Instant, on: {
  /** What `get` returns: another token has replaced the rejected one, or there is no valid token. */
  readonly get: () => A
  /** The rejected token itself, because it is too early for another renewal. */
  readonly returnToken: (token: Exit.Exit<AccessToken>) => A
  /** The outcome of a token request. */
  readonly await: (now: Instant.Instant) => A
  /** The remembered failure. */
  readonly fail: (failure: Exit.Exit<never, TokenError>) => A
}): A => {
  const { held } = state
  if (held === undefined || !isSame(held.token, rejected) || Instant.reached(now, held.expiresAt)) return on.get()
  if (!isReplaced(state, now)) return on.returnToken(held.exit)
  const failure = remembered(state, now)
  return failure !== undefined ? on.fail(failure.exit) : on.await(now)
}

/** Why a caller that finds this state starts a token request, and which token it replaces. */
export const replaces = (state: State, now: Instant.Instant): Replaces =>
  state.held === undefined || validToken(state, now) === undefined
    ? { _tag: "Nothing" }
    : state.held.rejected
    ? { _tag: "Rejected", token: state.held.token }
    : { _tag: "Due", token: state.held.token }

/** A token request is about to be sent. Its response takes earlier rejections into account. */
export const requested = (state: State, now: Instant.Instant, forcedRenewalMillis: number): State => ({
  ...state,
  rejected: undefined,
  holdUntil: state.held?.rejected === true ? Instant.later(now, forcedRenewalMillis) : state.holdUntil
})

/** A token that was not rejected for this time, or for half of its life, is proven. */
const proofMillis = 60_000

/** The tokens in a row that the business API has rejected. */
const rejectionsInRow = ({ held, rejections }: State, now: Instant.Instant): number =>
  held !== undefined && !held.rejected && Instant.reached(now, held.provenAt) ? 0 : rejections

/** Callers wait for a renewal when less than this is left of a token's life, or less than a tenth if that is shorter. */
const expiringMillis = 5_000

/**
 * A token was obtained. Its life counts from its own instants, as the clocks read before its request was sent. It becomes due
 * when the given share of its life has passed, early enough for a renewal in the background before callers have to wait. A token
 * that was rejected during the request is due at once.
 */
export const obtained = (
  state: State,
  token: AccessToken,
  sentAt: Instant.Instant,
  options: {
    readonly dueShare: number
    readonly missesScope: boolean
    /** The minimum time between two renewals of rejected tokens, in milliseconds. */
    readonly forcedRenewalMillis: number
  }
): State & { readonly held: Held } => {
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
      provenAt: Instant.later(sentAt, Math.min(proofMillis, lifetime / 2)),
      dueAt: rejected ? sentAt : due,
      expiringAt: Instant.atWallTime(sentAt, to - margin),
      expiresAt: Instant.atWallTime(sentAt, to)
    },
    failure: undefined,
    streak: undefined,
    rejections: rejectionsInRow(state, sentAt),
    missingScope: options.missesScope ? state.missingScope : undefined,
    // a token that another process requested long ago may have been revoked together with the rejected one
    holdUntil: state.holdUntil &&
      Instant.earlier(state.holdUntil, Instant.atWallTime(sentAt, from + options.forcedRenewalMillis))
  }
}

/** A token request failed. It may be retried. */
export const failed = (state: State, at: Instant.Instant): State => ({
  ...state,
  streak: { failures: (state.streak?.failures ?? 0) + 1, since: state.streak?.since ?? at }
})

/** A failure is remembered and not retried. The current token remains. */
export const gaveUp = (state: State, error: TokenError, nextTryAt: Instant.Instant): State => ({
  ...state,
  failure: { error, exit: Exit.fail(error), nextTryAt }
})

/** The program reports that the cause of the failure was removed, so the next request does not wait. */
export const forgotten = (state: State): State => ({ ...state, failure: undefined })

const isSame = (a: AccessToken | undefined, b: AccessToken): boolean =>
  a !== undefined && Equal.equals(a.secret, b.secret)

/**
 * A token was rejected. If it is the current token, it must be replaced: now, or as soon as the last such renewal is long
 * enough ago. Until then it remains in use, because it may still work for other calls.
 */
export const rejected = (
  state: State,
  token: AccessToken,
  now: Instant.Instant,
  forcedRenewalMillis: number
): State => {
  const { held, holdUntil } = state
  if (held === undefined || !isSame(held.token, token) || held.rejected) return state
  const rejections = Instant.reached(now, held.provenAt) ? 1 : state.rejections + 1
  if (holdUntil === undefined || Instant.reached(now, holdUntil)) {
    return {
      ...state,
      rejections,
      held: { ...held, rejected: true, dueAt: now },
      rejected: token,
      holdUntil: Instant.later(now, forcedRenewalMillis)
    }
  }
  const dueAt = Instant.reached(holdUntil, held.dueAt) ? held.dueAt : holdUntil
  return { ...state, rejections, held: { ...held, rejected: true, dueAt }, rejected: token }
}

/** A rejected token is due for its replacement. */
export const isReplaced = ({ held }: State, now: Instant.Instant): boolean =>
  held?.rejected === true && Instant.reached(now, held.dueAt)

/** A scope may be granted at any time, so the pauses between the requests for it are at most one hour. */
const shortestScopePause = 60_000
const longestScopePause = 60 * 60_000

/** A call missed a scope. Returns a new state if a token is requested for it, or the same state while it is too early. */
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

/** The part of the state that may be shown. */
export const status = (state: State, now: Instant.Instant) => ({
  phase: phase(state, now),
  rejected: state.held?.rejected ?? false,
  scopes: state.held?.token.scopes ?? [],
  requestedAt: Option.fromNullable(state.held?.token.requestedAt),
  expiresAt: Option.fromNullable(state.held?.token.expiresAt),
  nextRequestAt: wallTime(state.failure?.nextTryAt ?? state.held?.dueAt),
  lastFailure: Option.fromNullable(state.failure?.error),
  failingSince: wallTime(state.streak?.since),
  consecutiveFailures: state.streak?.failures ?? 0,
  consecutiveRejections: rejectionsInRow(state, now)
})
