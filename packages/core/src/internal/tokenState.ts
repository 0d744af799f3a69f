import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { AccessScope } from "../AccessScope.ts"
import type { AccessToken } from "../AccessToken.ts"
import type { TokenError } from "../TokenError.ts"
import type { RequestReason } from "../TokenEvent.ts"
import type { TokenPhase } from "../TokenStatus.ts"
import * as Instant from "./instant.ts"
import { longestPauseAfter, refusalPause, shortestPause } from "./pauses.ts"

// The life of a token (contract, section 3): its state, what a caller gets at an instant, and the transitions from one state to
// the next. All functions are pure.

/** What a caller gets. */
export type Decision =
  | { readonly _tag: "Use"; readonly token: Exit.Exit<AccessToken> }
  /** The token, while a token request is made in the background. */
  | { readonly _tag: "UseAndRenew"; readonly token: Exit.Exit<AccessToken> }
  /** The outcome of a token request; or the token, if the request takes longer than the patience, in milliseconds. */
  | { readonly _tag: "Wait"; readonly patience: number | undefined }
  /** This outcome, unless there is a token elsewhere, because no token may be requested now. */
  | { readonly _tag: "Settle"; readonly outcome: Exit.Exit<AccessToken, TokenError> }

/** A token that the supply holds, and the instants at which its phases begin. */
export interface Held {
  readonly token: AccessToken
  /** One object for all callers. */
  readonly use: Decision & { readonly _tag: "Use" }
  readonly dueAt: Instant.Instant
  readonly expiringAt: Instant.Instant
  readonly expiresAt: Instant.Instant
  /** No token is requested for a missing scope before this instant. */
  readonly scopeDueAt: Instant.Instant
  /** When the API last rejected the token. */
  readonly rejectedAt: Instant.Instant | undefined
}

/** A remembered failure. */
interface Failure {
  readonly error: TokenError
  readonly decision: Decision & { readonly _tag: "Settle" }
  readonly nextTryAt: Instant.Instant
}

/** The whole state of the supply. */
export interface State {
  readonly newer: Held | undefined
  /** The token that was in use when the newer one arrived. */
  readonly older: Held | undefined
  /** When the last forced renewal began, unless it failed. */
  readonly forcedAt: Instant.Instant | undefined
  /** The failure of the last token request, if it failed. */
  readonly failure: Failure | undefined
  /** The token requests that have failed since the last one that succeeded. */
  readonly streak: { readonly failures: number; readonly since: Instant.Instant } | undefined
  /** The scope of the supply has closed: this state is the last one. */
  readonly isClosed: boolean
}

export const none: State = {
  newer: undefined,
  older: undefined,
  forcedAt: undefined,
  failure: undefined,
  streak: undefined,
  isClosed: false
}

/** The tokens that may be sent: the newer until it expires, and the older until its last seconds. */
const held = ({ newer, older }: State, now: Instant.Instant): ReadonlyArray<Held> => {
  const tokens: Array<Held> = []
  if (newer !== undefined && !Instant.reached(now, newer.expiresAt)) tokens.push(newer)
  if (older !== undefined && !Instant.reached(now, older.expiringAt)) tokens.push(older)
  return tokens
}

/** Of at most two tokens the first that was not rejected, or the one whose rejection is longer ago. */
const best = ([first, second]: ReadonlyArray<Held>): Held | undefined => {
  if (first?.rejectedAt === undefined || second === undefined) return first
  if (second.rejectedAt === undefined) return second
  return Instant.millisBetween(first.rejectedAt, second.rejectedAt) < 0 ? second : first
}

const isSame = (a: AccessToken, b: AccessToken): boolean => Equal.equals(a.secret, b.secret)

/**
 * The token in use, which `get` returns, or for a call that has tried some tokens: the one that it can try next. A rejected token may still
 * work for other calls.
 */
export const inUse = (
  state: State,
  now: Instant.Instant,
  tried: ReadonlyArray<AccessToken> = []
): Held | undefined => best(held(state, now).filter(({ token }) => !tried.some((each) => isSame(each, token))))

/** The remembered failure, while it is too early for another token request. */
export const remembered = ({ failure, isClosed }: State, now: Instant.Instant): Failure | undefined =>
  failure === undefined || (!isClosed && Instant.reached(now, failure.nextTryAt)) ? undefined : failure

const wait: Decision = { _tag: "Wait", patience: undefined }

/** What a caller of `get` gets, or a call whose tokens were rejected. Neither waits for a forced renewal while there is another token. */
export const decide = (
  state: State,
  now: Instant.Instant,
  { isRequested, tried }: { readonly tried: ReadonlyArray<AccessToken>; readonly isRequested: boolean }
): Decision => {
  const { newer } = state
  const isDue = newer === undefined || Instant.reached(now, newer.dueAt)
  const rejected = tried[0]
  // most callers of `get` need no more than this
  if (rejected === undefined && newer !== undefined && newer.rejectedAt === undefined && !isDue) return newer.use
  const failure = remembered(state, now)
  const used = inUse(state, now, tried)
  if (used !== undefined) {
    if (rejected !== undefined || failure !== undefined || !isDue) return used.use
    return Instant.reached(now, used.expiringAt)
      // the token is still valid, and the caller may have a deadline
      ? { _tag: "Wait", patience: Instant.millisUntil(now, used.expiresAt) / 2 }
      : { _tag: "UseAndRenew", token: used.use.token }
  }
  if (rejected === undefined || held(state, now).length === 0) return failure?.decision ?? wait
  if (isRequested) return wait
  return failure?.decision ?? { _tag: "Settle", outcome: Exit.succeed(rejected) }
}

/** Why a token is requested now if no caller forces it, and which token it replaces. */
export const reason = (state: State, now: Instant.Instant): RequestReason => {
  const [first] = held(state, now)
  return first === undefined ? { _tag: "Nothing" } : { _tag: "Due", token: first.token }
}

/**
 * Callers wait for a renewal when less than this is left of a token's life, or less than a tenth if that is shorter.
 * @limit time
 */
export const expiringMillis = 5_000

/**
 * The minimum time between a token and a request because of a scope that it does not cover.
 * @limit time
 */
export const scopeMillis = 5 * 60_000

/**
 * A token arrived. Its life counts from its own instants, as the clocks read before its request was sent. It becomes due when the
 * given share of its life has passed, early enough for a renewal in the background before callers have to wait.
 *
 * The token that was in use becomes the older one. If the renewal was due, its rejection is forgotten: one path may have refused it.
 * There is no older one after a refresh, after a renewal for a missing scope, or if the new token covers a scope that the old one lacks.
 */
export const obtained = (
  state: State,
  token: AccessToken,
  { at, dueShare, isFound, reason, requestedScopes, sentAt }: {
    /** The token exists elsewhere. The endpoint still has its pause. */
    readonly isFound: boolean
    readonly reason: RequestReason
    readonly sentAt: Instant.Instant
    readonly at: Instant.Instant
    readonly dueShare: number
    readonly requestedScopes: ReadonlyArray<AccessScope>
  }
): State => {
  if (state.isClosed) return state
  const from = DateTime.toEpochMillis(token.requestedAt)
  const to = DateTime.toEpochMillis(token.expiresAt)
  const lifetime = to - from
  const margin = Math.min(expiringMillis, lifetime / 10)
  const older = inUse(state, at, [token])
  const isWithoutOlder = older === undefined || reason._tag === "Refresh" || reason._tag === "Insufficient" ||
    requestedScopes.some((scope) => token.covers(scope) && !older.token.covers(scope))
  return {
    ...state,
    newer: {
      token,
      use: { _tag: "Use", token: Exit.succeed(token) },
      dueAt: Instant.atWallTime(sentAt, from + Math.min(lifetime * dueShare, lifetime - margin * 1.5)),
      expiringAt: Instant.atWallTime(sentAt, to - margin),
      expiresAt: Instant.atWallTime(sentAt, to),
      scopeDueAt: Instant.atWallTime(sentAt, from + scopeMillis),
      // a server may return a token that is held already
      rejectedAt: [state.newer, state.older].find((each) => each !== undefined && isSame(each.token, token))?.rejectedAt
    },
    older: isWithoutOlder ? undefined : reason._tag === "Due" ? { ...older, rejectedAt: undefined } : older,
    failure: isFound ? state.failure : undefined,
    streak: undefined
  }
}

/** The API rejected a token. If it is not held, this changes nothing. */
export const invalidated = (state: State, token: AccessToken, now: Instant.Instant): State => {
  const found = held(state, now).find((each) => isSame(each.token, token))
  if (found === undefined) return state
  const rejected = { ...found, rejectedAt: now }
  return found === state.newer ? { ...state, newer: rejected } : { ...state, older: rejected }
}

/** Whether a token is held and was rejected. */
export const isRejected = (state: State, token: AccessToken, now: Instant.Instant): boolean =>
  held(state, now).some((each) => isSame(each.token, token) && each.rejectedAt !== undefined)

/** The token that a forced renewal replaces: the API rejected every token that is held. */
export const allRejected = (state: State, now: Instant.Instant): AccessToken | undefined => {
  const tokens = held(state, now)
  return tokens.every(({ rejectedAt }) => rejectedAt !== undefined) ? tokens[0]?.token : undefined
}

/** Whether a forced renewal may begin: at most one in this time, in milliseconds, because a new token may not be accepted either. */
export const mayForce = ({ forcedAt }: State, now: Instant.Instant, pauseMillis: number): boolean =>
  forcedAt === undefined || Instant.reached(now, Instant.later(forcedAt, pauseMillis))

/** A forced renewal began at this instant. */
export const forced = (state: State, at: Instant.Instant): State => state.isClosed ? state : { ...state, forcedAt: at }

/** A token request failed. It may be retried. */
export const failed = (state: State, at: Instant.Instant): State =>
  state.isClosed ? state : {
    ...state,
    // a failure before the last token is not the one before this failure
    failure: state.streak === undefined ? undefined : state.failure,
    streak: { failures: (state.streak?.failures ?? 0) + 1, since: state.streak?.since ?? at }
  }

const remember = (
  error: TokenError,
  nextTryAt: Instant.Instant,
  outcome: Exit.Exit<never, TokenError> = Exit.fail(error)
): Failure => ({ error, decision: { _tag: "Settle", outcome }, nextTryAt })

/**
 * A failure is remembered and not retried. The tokens remain. A forced renewal that fails frees its pause. Callers get the failure, or
 * the defect of a token request that died.
 */
export const gaveUp = (state: State, { error, isForced, nextTryAt, outcome }: {
  readonly error: TokenError
  readonly outcome?: Exit.Exit<never, TokenError>
  readonly nextTryAt: Instant.Instant
  readonly isForced: boolean
}): State =>
  state.isClosed ? state : {
    ...state,
    failure: remember(error, nextTryAt, outcome),
    forcedAt: isForced ? undefined : state.forcedAt
  }

/** The program reports that the cause of the failure was removed, so the next request does not wait. */
export const forgotten = (state: State): State => state.isClosed ? state : { ...state, failure: undefined }

/** The scope of the supply has closed. From now on, every caller gets this failure. */
export const closed = (error: TokenError, at: Instant.Instant): State => ({
  ...none,
  failure: remember(error, at),
  isClosed: true
})

/** No token is requested for a missing scope before this instant. */
export const nextTryForScope = (state: State, now: Instant.Instant): Instant.Instant =>
  remembered(state, now)?.nextTryAt ?? state.newer?.scopeDueAt ?? now

/**
 * The retries of a token request after a retryable failure when there is no valid token.
 * @limit count
 */
export const retries = 2

/**
 * How long no token request is sent after this failure, in milliseconds. A refusal of another process lasts only as long as that process
 * shares it: if it was a mistake, one of the others has to try.
 */
const pauseAfter = (
  error: TokenError,
  { failures, now, random }: { readonly failures: number; readonly now: Instant.Instant; readonly random: number }
): number => {
  if (!error.retryable) {
    const sharedUntil = error._tag === "InvalidClient" || error._tag === "ServerError" ? error.sharedUntil : undefined
    if (sharedUntil === undefined) return refusalPause
    const shared = Math.max(0, DateTime.toEpochMillis(sharedUntil) - now.wallMillis)
    return Math.round(Math.min(shared, refusalPause) + random * shortestPause)
  }
  const { endpointStatus, retryAfter } = error._tag === "ServerError" ? error : {}
  const requested = retryAfter === undefined ? 0 : Duration.toMillis(retryAfter)
  // with a Retry-After of 0, every process would send requests without a pause
  if (requested >= 1_000) return requested
  const longest = longestPauseAfter(endpointStatus)
  return Math.round(Math.min(shortestPause * 2 ** (failures - 1), longest) * (0.5 + random / 2))
}

/** What follows a failed token request: another one within the same flight, or the failure is remembered. */
export const afterFailure = (state: State, failure: {
  readonly error: TokenError
  readonly at: Instant.Instant
  readonly retriesLeft: number
  /** The flight retries until then. */
  readonly deadlineAt: Instant.Instant
  /** Between 0 and 1. */
  readonly random: number
}): { readonly isRetried: boolean; readonly pause: number } => {
  const { at, deadlineAt, error, random, retriesLeft } = failure
  const left = Instant.millisBetween(at, deadlineAt)
  const mayRetry = inUse(state, at) === undefined && error.retryable && retriesLeft > 0 && left > 0
  // the transports do not report whether the server had closed an idle connection, so the first reset is retried at once
  if (mayRetry && retriesLeft === retries && error._tag === "TransportError" && error.reason === "Reset") {
    return { isRetried: true, pause: 0 }
  }
  const pause = pauseAfter(error, { failures: state.streak?.failures ?? 1, now: at, random })
  return { isRetried: mayRetry && left > pause, pause }
}

const phase = (shown: Held | undefined, now: Instant.Instant): TokenPhase => {
  if (shown === undefined) return "None"
  if (Instant.reached(now, shown.expiresAt)) return "Expired"
  if (Instant.reached(now, shown.expiringAt)) return "Expiring"
  return Instant.reached(now, shown.dueAt) ? "Due" : "Valid"
}

const wallTime = (instant: Instant.Instant | undefined): Option.Option<DateTime.Utc> =>
  instant === undefined ? Option.none() : DateTime.make(instant.wallMillis)

/** The part of the state that may be shown: the newer token, or the older one if the newer one has expired before it. */
export const status = (
  state: State,
  now: Instant.Instant,
  { forcedRenewalMillis, requestedScopes }: {
    readonly forcedRenewalMillis: number
    readonly requestedScopes: ReadonlyArray<AccessScope>
  }
) => {
  const shown = held(state, now)[0] ?? state.newer
  const dueAt = shown?.dueAt
  const rejected = allRejected(state, now) !== undefined
  const forcedFrom = state.forcedAt === undefined ? now : Instant.later(state.forcedAt, forcedRenewalMillis)
  // a token that was found ends the failure for callers, although the endpoint still has its pause
  const failure = state.isClosed || state.streak !== undefined ? state.failure : undefined
  const paused = remembered(state, now)?.nextTryAt
  const isForcedFirst = rejected && dueAt !== undefined && forcedFrom.wallMillis < dueAt.wallMillis
  const next = failure?.nextTryAt ?? (isForcedFirst ? forcedFrom : dueAt)
  return {
    phase: phase(shown, now),
    rejected,
    scopes: shown?.token.scopes ?? [],
    missingScopes: shown?.token.missing(requestedScopes) ?? [],
    requestedAt: Option.fromNullable(shown?.token.requestedAt),
    expiresAt: Option.fromNullable(shown?.token.expiresAt),
    nextRequestAt: wallTime(
      next !== undefined && paused !== undefined && paused.wallMillis > next.wallMillis ? paused : next
    ),
    lastFailure: Option.fromNullable(failure?.error),
    failingSince: wallTime(state.streak?.since),
    consecutiveFailures: state.streak?.failures ?? 0
  }
}
