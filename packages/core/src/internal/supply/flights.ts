import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import { constant } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { AccessToken } from "../../AccessToken.ts"
import type { Replaces } from "../../Replaces.ts"
import type * as TokenEndpoint from "../../TokenEndpoint.ts"
import { type TokenError, TransportError } from "../../TokenError.ts"
import { amend } from "../amend.ts"
import { expired } from "../expired.ts"
import * as Instant from "../instant.ts"
import * as Pause from "./pause.ts"
import * as Recovery from "./recovery.ts"
import type * as Reports from "./reports.ts"
import * as RequestSpans from "./requestSpans.ts"
import * as SingleFlight from "./singleFlight.ts"
import * as Life from "./tokenLife.ts"
import { within } from "../within.ts"

/** A token endpoint keeps its own deadline. If an endpoint does not, the supply stops waiting this much later. */
const graceMillis = 1_000

/** The state of a supply. It changes in synchronous steps. */
export interface Cell {
  life: Life.State
}

export interface Options {
  readonly renewalWindow: { readonly from: number; readonly to: number }
  readonly pause: Schedule.Schedule<unknown, TokenError>
  readonly forcedRenewalPause: Duration.Duration
}

interface Parts {
  readonly cell: Cell
  readonly clock: Clock.Clock
  readonly endpoint: TokenEndpoint.Service
  readonly options: Options
  readonly reports: Reports.Reports
}

/** A flight: which token its requests replace, and until when it retries. */
interface Flight {
  readonly replaces: () => Replaces
  readonly deadlineAt: Instant.Instant
}

/** When a request is given up, and the failure that callers get then. */
interface Limit {
  readonly at: Instant.Instant
  readonly failure: TokenError
}

/** The flights of a supply: token requests with their retries, at most one flight at a time. */
export interface Flights {
  readonly isUnderWay: (now: Instant.Instant) => boolean
  /** Begins a flight unless another is under way. `prepare` runs before its first request. */
  readonly begin: (now: Instant.Instant, replaces?: () => Replaces, prepare?: Effect.Effect<void>) => void
  /** The outcome of the last flight that was begun, when it ends. The caller's span links to the requests. */
  readonly outcome: Effect.Effect<Exit.Exit<AccessToken, TokenError>>
  /** How many callers wait for that outcome. */
  readonly callersWaiting: () => number
  /** Takes a token that another process has obtained, unless the state has changed since the lookup began. */
  readonly find: Effect.Effect<void>
  /** An effect with the time limit of one flight. */
  readonly withinOne: <A>(effect: Effect.Effect<A, TokenError>) => Effect.Effect<A, TokenError>
}

export const make = Effect.fnUntraced(function*(
  { cell, clock, endpoint, options, reports }: Parts
): Effect.fn.Return<Flights, never, Scope.Scope> {
  const now = () => Instant.now(clock)
  const spans = RequestSpans.make(endpoint)
  const flights = yield* SingleFlight.make<AccessToken, TokenError>()
  const pauses = Pause.make(options.pause)
  const deadlineMillis = Duration.toMillis(endpoint.deadline)
  const limitMillis = Duration.toMillis(endpoint.sharing?.timeLimit ?? endpoint.deadline) + graceMillis
  const forcedRenewalMillis = Duration.toMillis(options.forcedRenewalPause)
  const drawDueShare = Random.nextRange(options.renewalWindow.from, options.renewalWindow.to)
  const missingScopes = (token: AccessToken) => token.missing(endpoint.requestedScopes)

  const where = { environment: endpoint.environment.name, tokenEndpoint: endpoint.url }
  const timedOut = new TransportError({ ...where, reason: "Timeout" })

  /** A custom token endpoint may die or interrupt itself, which would end every caller. */
  const died = (cause: Cause.Cause<unknown>): TokenError => {
    const defect = Cause.squash(cause)
    const name = Predicate.isError(defect) ? defect.name : "a value that is no error"
    return new TransportError({
      ...where,
      reason: "Other",
      hint: `requestToken of this TokenEndpoint died with ${name}: repair the TokenEndpoint.`
    })
  }
  const orDied = Effect.catchAllCause((cause: Cause.Cause<TokenError>) =>
    Effect.fail(Option.getOrElse(Cause.failureOption(cause), () => died(cause)))
  )

  /** The state with this token, or nothing if it has expired already. */
  const withToken = (token: AccessToken, sentAt: Instant.Instant, dueShare: number) => {
    const next = Life.obtained(cell.life, token, sentAt, {
      dueShare,
      missesScope: missingScopes(token).length > 0,
      forcedRenewalMillis
    })
    return Life.validToken(next, now()) === undefined ? undefined : next
  }

  /** A token has taken the place of what was there before. */
  const reportToken = (
    attempt: Reports.Attempt,
    { dueAt, token }: { readonly dueAt: Instant.Instant; readonly token: AccessToken },
    before: Life.State
  ) =>
    Effect.suspend(() => {
      pauses.reset()
      const isRenewal = Life.validToken(before, now()) !== undefined
      return Effect.zipRight(
        reports.obtained(attempt, token, { dueAt, isRenewal, streak: before.streak }),
        reports.grantedLess(missingScopes(token))
      )
    })

  const request = Effect.fnUntraced(function*(
    attempt: Reports.Attempt,
    replaces: Replaces,
    limit: Limit
  ): Effect.fn.Return<AccessToken, TokenError> {
    const { reason, sentAt } = attempt
    yield* reports.requested(attempt)
    const dueShare = yield* drawDueShare
    cell.life = Life.requested(cell.life, now(), forcedRenewalMillis)
    let before = cell.life
    let dueAt = sentAt
    const token = yield* orDied(spans.inSpan(
      reason,
      Effect.flatMap(
        within(Instant.millisBetween(sentAt, limit.at), constant(limit.failure))(
          orDied(Effect.suspend(() => endpoint.requestToken(replaces)))
        ),
        (token) => {
          before = cell.life
          const next = withToken(token, sentAt, dueShare)
          if (next === undefined) {
            return Effect.fail(expired(where, token, Instant.millisBetween(sentAt, now())))
          }
          cell.life = next
          dueAt = next.held.dueAt
          return Effect.succeed(token)
        }
      )
    ))
    yield* reportToken(attempt, { dueAt, token }, before)
    return token
  })

  const recover = Effect.fnUntraced(function*(
    error: TokenError,
    attempt: Reports.Attempt,
    flight: Flight,
    retriesLeft: number
  ): Effect.fn.Return<AccessToken, TokenError> {
    const failed = { error, at: now(), deadlineAt: flight.deadlineAt, retriesLeft }
    cell.life = Life.failed(cell.life, failed.at)
    const atOnce = Recovery.isRetriedAtOnce(cell.life, failed)
    const pause = atOnce ? Duration.zero : yield* pauses.after(error)
    const { isRetried, nextTryAt } = Recovery.decide(cell.life, failed, pause)
    const failure = amend(error, { nextTryAt: Instant.wallTime(nextTryAt) })
    if (isRetried) {
      yield* reports.failed(attempt, failure)
      if (!atOnce) yield* Effect.sleep(pause)
      const limit = { at: flight.deadlineAt, failure: amend(error, { deadlineEnded: true }) }
      return yield* attemptRequest(flight, retriesLeft - 1, limit)
    }
    const previous = cell.life.failure?.error
    cell.life = Life.gaveUp(cell.life, failure, nextTryAt)
    // the status shows the failure before a listener gets the event
    yield* reports.failed(attempt, failure)
    const hasToken = Life.validToken(cell.life, failed.at) !== undefined
    yield* reports.gaveUp(failure, {
      token: !hasToken ? "None" : cell.life.held?.rejected === true ? "Rejected" : "Valid",
      previous
    })
    return yield* failure
  })

  const attemptRequest = (
    flight: Flight,
    retriesLeft: number,
    limit: Limit
  ): Effect.Effect<AccessToken, TokenError> =>
    Effect.suspend(() => {
      const replaces = flight.replaces()
      const attempt = {
        reason: retriesLeft === Recovery.retries ? replaces._tag : "Retry" as const,
        sentAt: now()
      }
      return Effect.catchAll(
        request(attempt, replaces, limit),
        (error) => recover(error, attempt, flight, retriesLeft)
      )
    })

  const flight = (replaces: () => Replaces, prepare: Effect.Effect<void> = Effect.void) =>
    Effect.suspend(() => {
      spans.reset()
      const begunAt = now()
      return Effect.zipRight(
        prepare,
        attemptRequest({ replaces, deadlineAt: Instant.later(begunAt, deadlineMillis) }, Recovery.retries, {
          at: Instant.later(begunAt, limitMillis),
          failure: timedOut
        })
      )
    })
  // every waiting caller asks for it
  const renewal = flight(() => Life.replaces(cell.life, now()))

  return {
    isUnderWay: flights.isUnderWay,
    begin: (at, replaces, prepare) =>
      flights.begin(at, replaces === undefined ? renewal : flight(replaces, prepare), limitMillis + graceMillis),
    outcome: spans.linked(flights.outcome),
    callersWaiting: flights.waiting,
    find: Effect.suspend(() => {
      const { sharing } = endpoint
      const { failure } = cell.life
      if (sharing === undefined || failure === undefined) return Effect.void
      const replaces = Life.replaces(cell.life, now())
      const sentAt = now()
      return Effect.flatMap(
        sharing.find(replaces, failure.error),
        Option.match({
          onNone: () => Effect.void,
          onSome: (token) =>
            Effect.flatMap(drawDueShare, (dueShare) => {
              const before = cell.life
              if (before.failure !== failure || flights.isUnderWay(now())) return Effect.void
              const next = withToken(token, sentAt, dueShare)
              if (next === undefined) return Effect.void
              cell.life = next
              return reportToken({ reason: replaces._tag, sentAt }, next.held, before)
            })
        })
      )
    }),
    withinOne: (effect) => effect.pipe(within(limitMillis, constant(timedOut)), Effect.withClock(clock))
  }
})
