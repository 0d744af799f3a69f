import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { AccessToken } from "../AccessToken.ts"
import type { TokenError } from "../TokenError.ts"
import type { RequestReason } from "../TokenEvent.ts"
import type { TokenPhase } from "../TokenStatus.ts"
import * as Instant from "./dualClock.ts"

// The life of a token (contract, section 3): its state, what a caller gets at an instant, and the transitions from one state to
// the next. All functions are pure.

/** What a caller gets. */
export type Decision =
  | { readonly _tag: "Use"; readonly token: Exit.Exit<AccessToken> }
  /** The token, while a token request is made in the background. */
  | { readonly _tag: "UseAndRenew"; readonly token: Exit.Exit<AccessToken> }
  /** The outcome of a token request; or the token, if the request takes longer than the patience, in milliseconds. */
  | { readonly _tag: "Wait"; readonly patience: number | undefined }
  /** The remembered failure, because it is too early for the next request. */
  | { readonly _tag: "Fail"; readonly failure: Exit.Exit<never, TokenError> }

/** The supply's current token, and the instants at which its phases begin. */
interface Held {
  readonly token: AccessToken
  /** One object for all callers. */
  readonly use: Decision & { readonly _tag: "Use" }
  readonly dueAt: Instant.Instant
  readonly expiringAt: Instant.Instant
  readonly expiresAt: Instant.Instant
  /** No token is requested for a missing scope before this instant. */
  readonly scopeDueAt: Instant.Instant
  /** When the API rejected the token, if it must be replaced. */
  readonly rejectedAt: Instant.Instant | undefined
  /** A call has succeeded with the token. */
  readonly isProven: boolean
  /** The token is in the count of rejections. */
  readonly isCounted: boolean
}

/** A remembered failure. */
interface Failure {
  readonly error: TokenError
  readonly decision: Decision & { readonly _tag: "Fail" }
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
  /** A rejection before this instant replaces nothing, because a rejected token was replaced a short time ago. */
  readonly holdUntil: Instant.Instant | undefined
  /** The scope of the supply has closed: this state is the last one. */
  readonly isClosed: boolean
}

export const none: State = {
  held: undefined,
  failure: undefined,
  streak: undefined,
  rejections: 0,
  holdUntil: undefined,
  isClosed: false
}

/** The token, while it may be sent. */
export const validToken = ({ held }: State, now: Instant.Instant): Held | undefined =>
  held === undefined || Instant.reached(now, held.expiresAt) ? undefined : held

/** The remembered failure, while it is too early for another token request. */
export const remembered = ({ failure, isClosed }: State, now: Instant.Instant): Failure | undefined =>
  failure === undefined || (!isClosed && Instant.reached(now, failure.nextTryAt)) ? undefined : failure

/** Callers wait at most this long for a replacement, because the rejected token may still work for their calls. */
const longestPatience = 2_500

const wait: Decision = { _tag: "Wait", patience: undefined }

/** What a caller of `get` gets. */
export const decide = (state: State, now: Instant.Instant): Decision => {
  const { held } = state
  if (held !== undefined && held.rejectedAt === undefined && !Instant.reached(now, held.dueAt)) return held.use
  const failure = remembered(state, now)
  if (held === undefined || Instant.reached(now, held.expiresAt)) return failure?.decision ?? wait
  if (failure !== undefined) return held.use
  const patience = Instant.millisUntil(now, held.expiresAt) / 2
  if (held.rejectedAt !== undefined) return { _tag: "Wait", patience: Math.min(patience, longestPatience) }
  return Instant.reached(now, held.expiringAt)
    ? { _tag: "Wait", patience }
    : { _tag: "UseAndRenew", token: held.use.token }
}

const isSame = (a: AccessToken, b: AccessToken): boolean => Equal.equals(a.secret, b.secret)

/** The current token, if it is valid and not the rejected one. */
export const otherToken = (state: State, rejected: AccessToken, now: Instant.Instant): Held | undefined => {
  const held = validToken(state, now)
  return held === undefined || isSame(held.token, rejected) ? undefined : held
}

/** What a caller gets instead of a token that the business API rejected. */
export const decideReplacement = (state: State, rejected: AccessToken, now: Instant.Instant): Decision => {
  const held = validToken(state, now)
  if (held === undefined || !isSame(held.token, rejected)) return decide(state, now)
  // the API has rejected the replacement of a rejected token too
  if (held.rejectedAt === undefined) return held.use
  return remembered(state, now)?.decision ?? wait
}

/** Why a caller that finds this state starts a token request, and which token it replaces. */
export const reason = (state: State, now: Instant.Instant): RequestReason => {
  const held = validToken(state, now)
  if (held === undefined) return { _tag: "Nothing" }
  return { _tag: held.rejectedAt === undefined ? "Due" : "Rejected", token: held.token }
}

/** Callers wait for a renewal when less than this is left of a token's life, or less than a tenth if that is shorter. */
const expiringMillis = 5_000

/** How long no token is requested for a missing scope after the last one, in milliseconds. */
export const scopeMillis = 5 * 60_000

/**
 * A token was obtained. Its life counts from its own instants, as the clocks read before its request was sent. It becomes due
 * when the given share of its life has passed, early enough for a renewal in the background before callers have to wait.
 */
export const obtained = (
  state: State,
  token: AccessToken,
  sentAt: Instant.Instant,
  options: {
    readonly dueShare: number
    /** The minimum time between two renewals of rejected tokens, in milliseconds. */
    readonly forcedRenewalMillis: number
  }
): State => {
  if (state.isClosed) return state
  const { held } = state
  const from = DateTime.toEpochMillis(token.requestedAt)
  const to = DateTime.toEpochMillis(token.expiresAt)
  const lifetime = to - from
  const margin = Math.min(expiringMillis, lifetime / 10)
  const isSameToken = held !== undefined && isSame(held.token, token)
  return {
    ...state,
    held: {
      token,
      use: { _tag: "Use", token: Exit.succeed(token) },
      dueAt: Instant.atWallTime(sentAt, from + Math.min(lifetime * options.dueShare, lifetime - margin * 1.5)),
      expiringAt: Instant.atWallTime(sentAt, to - margin),
      expiresAt: Instant.atWallTime(sentAt, to),
      scopeDueAt: Instant.atWallTime(sentAt, from + scopeMillis),
      rejectedAt: undefined,
      isProven: isSameToken && held.isProven,
      isCounted: isSameToken && held.isCounted
    },
    failure: undefined,
    streak: undefined,
    // counts from the request of the token: another process may have obtained it before the rejection
    holdUntil: held?.rejectedAt === undefined
      ? state.holdUntil
      : Instant.atWallTime(sentAt, from + options.forcedRenewalMillis)
  }
}

/** A token request failed. It may be retried. */
export const failed = (state: State, at: Instant.Instant): State =>
  state.isClosed ? state : {
    ...state,
    streak: { failures: (state.streak?.failures ?? 0) + 1, since: state.streak?.since ?? at }
  }

const remember = (error: TokenError, nextTryAt: Instant.Instant): Failure => ({
  error,
  decision: { _tag: "Fail", failure: Exit.fail(error) },
  nextTryAt
})

/** A failure is remembered and not retried. The current token remains. */
export const gaveUp = (state: State, error: TokenError, nextTryAt: Instant.Instant): State =>
  state.isClosed ? state : { ...state, failure: remember(error, nextTryAt) }

/** The program reports that the cause of the failure was removed, so the next request does not wait. */
export const forgotten = (state: State): State => state.isClosed ? state : { ...state, failure: undefined }

/** The scope of the supply has closed. From now on, every caller gets this failure. */
export const closed = (error: TokenError, at: Instant.Instant): State => ({
  ...none,
  failure: remember(error, at),
  isClosed: true
})

/**
 * The API rejected a token. If it is the current token, it must be replaced, unless a rejected token was replaced a short time ago:
 * a new token may not work everywhere yet, and an API that rejects every token gets a bounded number of them.
 */
export const rejected = (state: State, token: AccessToken, now: Instant.Instant): State => {
  const { held, holdUntil } = state
  if (held === undefined || held.rejectedAt !== undefined || !isSame(held.token, token)) return state
  const isHeld = holdUntil !== undefined && !Instant.reached(now, holdUntil)
  const counts = !held.isProven && !held.isCounted
  if (isHeld && !counts) return state
  return {
    ...state,
    rejections: counts ? state.rejections + 1 : state.rejections,
    held: { ...held, isCounted: true, rejectedAt: isHeld ? undefined : now }
  }
}

/** The token with which no call has succeeded since it was obtained or rejected. */
export const unproven = ({ held }: State): AccessToken | undefined =>
  held === undefined || (held.isProven && held.rejectedAt === undefined) ? undefined : held.token

/** A call has succeeded with a token. A token that works is not replaced because of an earlier call. */
export const accepted = (state: State, token: AccessToken): State => {
  const { held } = state
  return held === undefined || unproven(state) === undefined || !isSame(held.token, token)
    ? state
    : { ...state, rejections: 0, held: { ...held, isProven: true, rejectedAt: undefined } }
}

/** No token is requested for a missing scope before this instant. */
export const nextTryForScope = (state: State, now: Instant.Instant): Instant.Instant =>
  remembered(state, now)?.nextTryAt ?? state.held?.scopeDueAt ?? now

/** How often a flight retries after a retryable failure when there is no valid token. */
export const retries = 2

/** How long a failure that is not retryable is remembered, in milliseconds. */
const refusalPause = 30_000
const shortestPause = 1_000
export const longestPause = 60_000

/**
 * How long no token request is sent after this failure, in milliseconds. After a retryable failure: the `Retry-After` of the response,
 * or 1 s, doubling up to 60 s, of which half is random. A refusal of another process lasts only as long as that process shares it: if
 * it was a mistake, one of the others has to try.
 */
export const pauseAfter = (
  error: TokenError,
  { failures, now, random }: { readonly failures: number; readonly now: Instant.Instant; readonly random: number }
): number => {
  if (!error.retryable) {
    const sharedUntil = error._tag === "InvalidClient" || error._tag === "ServerError" ? error.sharedUntil : undefined
    if (sharedUntil === undefined) return refusalPause
    const shared = Math.max(0, DateTime.toEpochMillis(sharedUntil) - now.wallMillis)
    return Math.round(Math.min(shared, refusalPause) + random * shortestPause)
  }
  const requested = error._tag === "ServerError" && error.retryAfter !== undefined
    ? Duration.toMillis(error.retryAfter)
    : 0
  if (requested >= 1_000) return requested
  return Math.round(Math.min(shortestPause * 2 ** (failures - 1), longestPause) * (0.5 + random / 2))
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
  const mayRetry = validToken(state, at) === undefined && error.retryable && retriesLeft > 0
  // the transports do not report whether the server had closed an idle connection, so the first reset is retried at once
  if (mayRetry && retriesLeft === retries && error._tag === "TransportError" && error.reason === "Reset") {
    return { isRetried: true, pause: 0 }
  }
  const pause = pauseAfter(error, { failures: state.streak?.failures ?? 1, now: at, random })
  return { isRetried: mayRetry && Instant.millisBetween(at, deadlineAt) > pause, pause }
}

const phase = ({ held }: State, now: Instant.Instant): TokenPhase => {
  if (held === undefined) return "None"
  if (Instant.reached(now, held.expiresAt)) return "Expired"
  if (Instant.reached(now, held.expiringAt)) return "Expiring"
  return held.rejectedAt !== undefined || Instant.reached(now, held.dueAt) ? "Due" : "Valid"
}

const wallTime = (instant: Instant.Instant | undefined): Option.Option<DateTime.Utc> =>
  instant === undefined ? Option.none() : DateTime.make(instant.wallMillis)

/** The part of the state that may be shown. */
export const status = (state: State, now: Instant.Instant) => ({
  phase: phase(state, now),
  rejected: state.held?.rejectedAt !== undefined,
  scopes: state.held?.token.scopes ?? [],
  requestedAt: Option.fromNullable(state.held?.token.requestedAt),
  expiresAt: Option.fromNullable(state.held?.token.expiresAt),
  nextRequestAt: wallTime(state.failure?.nextTryAt ?? state.held?.rejectedAt ?? state.held?.dueAt),
  lastFailure: Option.fromNullable(state.failure?.error),
  failingSince: wallTime(state.streak?.since),
  consecutiveFailures: state.streak?.failures ?? 0,
  consecutiveRejections: state.rejections
})
