import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import { constant, identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import type * as Schedule from "effect/Schedule"
import type { AccessScope } from "../../AccessScope.ts"
import type { AccessToken } from "../../AccessToken.ts"
import type { Replaces } from "../../Replaces.ts"
import type * as TokenEndpoint from "../../TokenEndpoint.ts"
import { type TokenError, TransportError } from "../../TokenError.ts"
import type { TokenStatus } from "../../TokenStatus.ts"
import { amend } from "../amend.ts"
import { expired } from "../expired.ts"
import * as Instant from "../instant.ts"
import * as Pause from "./pause.ts"
import * as Recovery from "./recovery.ts"
import * as Reports from "./reports.ts"
import * as RequestSpans from "./requestSpans.ts"
import * as Search from "./search.ts"
import * as SingleFlight from "./singleFlight.ts"
import * as Life from "./tokenLife.ts"
import { within } from "../within.ts"

/** A token endpoint keeps its own deadline. If an endpoint does not, the supply stops waiting this much later. */
const graceMillis = 1_000

/** `refresh` sends at most one request in this time. */
const refreshMillis = 1_000

interface Options {
  readonly renewalWindow: { readonly from: number; readonly to: number }
  readonly pause: Schedule.Schedule<unknown, TokenError>
  readonly forcedRenewalPause: Duration.Duration
}

/** A flight: which token its requests replace, and when it ends. */
interface Flight {
  readonly replaces: () => Replaces
  readonly endsAt: Instant.Instant
}

/** The supply: one state that changes in synchronous steps, and at most one flight (a token request with its retries). */
export const make = Effect.fnUntraced(function*(
  endpoint: TokenEndpoint.Service,
  options: Options
) {
  const clock = yield* Effect.clock
  const now = () => Instant.now(clock)
  const reports = yield* Reports.make(endpoint, clock)
  const spans = RequestSpans.make(endpoint)
  const flights = yield* SingleFlight.make<AccessToken, TokenError>(clock)
  const pauses = Pause.make(options.pause)
  // what the supply logs goes to its own loggers, also when a caller causes it
  const inBackground = yield* FiberSet.makeRuntime()
  const deadlineMillis = Duration.toMillis(endpoint.deadline)
  const limitMillis = Duration.toMillis(endpoint.sharing?.timeLimit ?? endpoint.deadline) + graceMillis
  const forcedRenewalMillis = Duration.toMillis(options.forcedRenewalPause)
  const missingScopes = (token: AccessToken) => token.missing(endpoint.requestedScopes)

  let state = Life.none
  let isOpen = true
  let refreshedAt: Instant.Instant | undefined
  let callersWaiting = 0
  let tokensServed = 0
  // After the scope is closed, no token is returned and no flight begins: callers are interrupted.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      state = Life.none
      isOpen = false
    })
  )

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

  const drawDueShare = Random.nextRange(options.renewalWindow.from, options.renewalWindow.to)

  /** A token has taken the place of what was there before. */
  const took = (
    attempt: Reports.Attempt,
    { dueAt, token }: { readonly dueAt: Instant.Instant; readonly token: AccessToken },
    before: Life.State
  ) =>
    Effect.suspend(() => {
      pauses.reset()
      const isRenewal = Life.servable(before, now()) !== undefined
      return Effect.zipRight(
        reports.obtained(attempt, token, { dueAt, isRenewal, streak: before.streak }),
        reports.grantedLess(missingScopes(token))
      )
    })

  const request = Effect.fnUntraced(function*(
    attempt: Reports.Attempt,
    replaces: Replaces,
    endsAt: Instant.Instant,
    onTimeout: TokenError
  ): Effect.fn.Return<AccessToken, TokenError> {
    const { reason, sentAt } = attempt
    yield* reports.requested(attempt)
    const dueShare = yield* drawDueShare
    state = Life.requested(state, now(), forcedRenewalMillis)
    const orDied = Effect.catchAllCause((cause: Cause.Cause<TokenError>) =>
      Effect.fail(Option.getOrElse(Cause.failureOption(cause), () => died(cause)))
    )
    let before = state
    let dueAt = sentAt
    const token = yield* orDied(spans.inSpan(
      reason,
      Effect.flatMap(
        within(Instant.millisBetween(sentAt, endsAt), constant(onTimeout))(
          orDied(Effect.suspend(() => endpoint.requestToken(replaces)))
        ),
        (token) => {
          before = state
          const next = Life.obtained(before, token, sentAt, {
            dueShare,
            missesScope: missingScopes(token).length > 0,
            limitMillis: forcedRenewalMillis
          })
          if (Life.servable(next, now()) === undefined) {
            return Effect.fail(expired(where, token, Instant.millisBetween(sentAt, now())))
          }
          state = next
          dueAt = next.held.dueAt
          return Effect.succeed(token)
        }
      )
    ))
    yield* took(attempt, { dueAt, token }, before)
    return token
  })

  /** Takes a token of another process, unless the state has changed since the search began. */
  const find = Effect.suspend(() => {
    const { sharing } = endpoint
    const failed = state.failure
    if (sharing === undefined || failed === undefined) return Effect.void
    const replaces = Life.replaces(state, now())
    const sentAt = now()
    return Effect.flatMap(
      sharing.find(replaces, failed.error),
      Option.match({
        onNone: () => Effect.void,
        onSome: (token) =>
          Effect.flatMap(drawDueShare, (dueShare) => {
            const before = state
            if (before.failure !== failed || flights.isUnderWay()) return Effect.void
            const next = Life.obtained(before, token, sentAt, {
              dueShare,
              missesScope: missingScopes(token).length > 0,
              limitMillis: forcedRenewalMillis
            })
            if (Life.servable(next, now()) === undefined) return Effect.void
            state = next
            return took({ reason: replaces._tag, sentAt }, next.held, before)
          })
      })
    )
  })
  const search = endpoint.sharing === undefined ? undefined : yield* Search.make(clock, find)

  const recover = Effect.fnUntraced(function*(
    error: TokenError,
    attempt: Reports.Attempt,
    flight: Flight,
    retriesLeft: number
  ): Effect.fn.Return<AccessToken, TokenError> {
    const failed = { error, at: now(), endsAt: flight.endsAt, retriesLeft }
    state = Life.requestFailed(state, failed.at)
    const atOnce = Recovery.isRetriedAtOnce(state, failed)
    const pause = atOnce ? Duration.zero : yield* pauses.after(error)
    const { isRetried, nextTryAt } = Recovery.decide(state, failed, pause)
    const failure = amend(error, { nextTryAt: Instant.wallTime(nextTryAt) })
    if (isRetried) {
      yield* reports.failed(attempt, failure)
      if (!atOnce) yield* Effect.sleep(pause)
      const onTimeout = amend(error, { deadlineEnded: true })
      return yield* attemptRequest(flight, retriesLeft - 1, { endsAt: flight.endsAt, onTimeout })
    }
    const before = state.failure?.error
    state = Life.failed(state, failure, nextTryAt)
    // the status shows the failure before a listener gets the event
    yield* reports.failed(attempt, failure)
    const hasToken = Life.servable(state, failed.at) !== undefined
    yield* reports.gaveUp(failure, {
      token: !hasToken ? "None" : state.held?.rejected === true ? "Rejected" : "Valid",
      before
    })
    return yield* failure
  })

  const attemptRequest = (
    flight: Flight,
    retriesLeft: number,
    { endsAt, onTimeout }: { readonly endsAt: Instant.Instant; readonly onTimeout: TokenError }
  ): Effect.Effect<AccessToken, TokenError> =>
    Effect.suspend(() => {
      const replaces = flight.replaces()
      const attempt = {
        reason: retriesLeft === Recovery.retries ? replaces._tag : "Retry" as const,
        sentAt: now()
      }
      return Effect.catchAll(
        request(attempt, replaces, endsAt, onTimeout),
        (error) => recover(error, attempt, flight, retriesLeft)
      )
    })

  const begin = (
    replaces: Flight["replaces"] = () => Life.replaces(state, now()),
    prepare: Effect.Effect<void> = Effect.void
  ) => {
    // before the flight starts to run, because callers join it at once
    if (!flights.isUnderWay()) spans.reset()
    const flight = Effect.suspend(() => {
      const begunAt = now()
      const endsAt = Instant.later(begunAt, deadlineMillis)
      return Effect.zipRight(
        prepare,
        attemptRequest({ replaces, endsAt }, Recovery.retries, {
          endsAt: Instant.later(begunAt, limitMillis),
          onTimeout: timedOut
        })
      )
    })
    flights.begin(flight, limitMillis + graceMillis)
  }

  /** Waits for the outcome of the flight that is under way. */
  const landing = Effect.acquireUseRelease(
    Effect.sync(() => {
      callersWaiting++
    }),
    () => spans.linked(Effect.suspend(flights.landing)),
    () =>
      Effect.sync(() => {
        callersWaiting--
      })
  )
  const join = () => {
    begin()
    return landing
  }

  // After a flight, waiting callers read the state again: a failed flight leaves a valid token in place, and a new token may
  // already be rejected. A flight that was replaced is interrupted.
  const landed = (
    exit: Exit.Exit<AccessToken, TokenError>,
    read: () => Effect.Effect<AccessToken, TokenError>
  ): Effect.Effect<AccessToken, TokenError> =>
    Exit.isInterrupted(exit) ? (isOpen ? read() : Effect.interrupt) : Exit.isFailure(exit) ? exit : read()

  const serve = (token: Exit.Exit<AccessToken>) => {
    tokensServed++
    return token
  }

  /** A valid token, whatever the flight's outcome. */
  const read = (onNone: () => Effect.Effect<AccessToken, TokenError>): Effect.Effect<AccessToken, TokenError> => {
    const token = Life.servable(state, now())
    return token === undefined ? onNone() : serve(token)
  }

  const readAfter = (exit: Exit.Exit<AccessToken, TokenError>) => read(() => landed(exit, () => get))

  const callers = {
    serve,
    serveAndRenew: (token: Exit.Exit<AccessToken>) => {
      begin()
      return serve(token)
    },
    await: () => Effect.flatMap(join(), readAfter),
    awaitFor: (patience: number) =>
      join().pipe(
        Effect.interruptible,
        Effect.timeoutOption(Duration.millis(patience)),
        Effect.withClock(clock),
        Effect.flatMap(Option.match({ onNone: () => read(() => get), onSome: readAfter }))
      ),
    fail: search === undefined
      ? identity<Effect.Effect<AccessToken, TokenError>>
      : (failure: Exit.Exit<never, TokenError>) => Effect.zipRight(search, Effect.suspend(() => read(() => failure)))
  }

  const get: Effect.Effect<AccessToken, TokenError> = Effect.suspend(() =>
    Life.decide<Effect.Effect<AccessToken, TokenError>>(state, now(), callers)
  )

  /** Marks the held token as rejected, and starts its renewal. */
  const reject = (rejected: AccessToken) =>
    Effect.suspend(() => {
      const before = state
      const at = now()
      state = Life.invalidated(state, rejected, at, forcedRenewalMillis)
      const { held } = state
      if (state === before || held === undefined) return Effect.void
      return Effect.zipRight(
        reports.invalidated,
        Instant.reached(at, held.dueAt)
          ? Effect.sync(() => {
            if (Life.remembered(state, now()) === undefined) begin()
          })
          : Effect.sync(() => {
            inBackground(reports.rejectedAgain(held.dueAt))
          })
      )
    })

  const replacement = (rejected: AccessToken): Effect.Effect<AccessToken, TokenError> =>
    Effect.suspend(() =>
      Life.decideReplacement<Effect.Effect<AccessToken, TokenError>>(state, rejected, now(), {
        get: () => get,
        serve,
        await: () => Effect.flatMap(join(), (exit) => landed(exit, () => replacement(rejected))),
        fail: (failure) =>
          search === undefined ? failure : Effect.zipRight(
            search,
            Effect.suspend(() => state.failure === undefined ? replacement(rejected) : failure)
          )
      })
    )

  return {
    environment: endpoint.environment,
    requestedScopes: endpoint.requestedScopes,
    get,
    invalidate: reject,
    replace: (rejected: AccessToken) =>
      Effect.zipRight(
        reject(rejected),
        // one flight keeps the deadline, but a second flight after it would exceed the deadline
        replacement(rejected).pipe(within(limitMillis, constant(timedOut)), Effect.withClock(clock))
      ),
    refresh: Effect.suspend(() => {
      const at = now()
      if (!flights.isUnderWay()) {
        if (refreshedAt !== undefined && !Instant.reached(at, Instant.later(refreshedAt, refreshMillis))) return get
        refreshedAt = at
        state = Life.forgotten(state)
        begin(() => ({ _tag: "Refresh", token: state.held?.token }), endpoint.client?.rereadCredentials)
      }
      return Effect.flatMap(landing, (exit) => landed(exit, () => get))
    }),
    reportMissingScope: (scope: AccessScope) =>
      Effect.sync(() => {
        const before = state
        const token = state.held?.token
        if (token?.covers(scope) === false) state = Life.scopeMissed(state, now())
        // before the flight begins, because its first steps run at once
        const nextTryAt = Life.nextTryForScope(state, now())
        if (token !== undefined && state !== before) begin(() => ({ _tag: "Insufficient", token, scope }))
        return Instant.wallTime(nextTryAt)
      }),
    status: Effect.sync((): TokenStatus => ({
      environment: where.environment,
      tokenEndpoint: endpoint.url,
      version: Option.fromNullable(endpoint.version),
      requestedScopes: Option.getOrElse(endpoint.requestedScopes, () => []),
      missingScopes: state.held === undefined ? [] : missingScopes(state.held.token),
      ...Life.status(state, now()),
      callersWaiting,
      tokensServed,
      eventsLost: reports.eventsLost(),
      store: Option.none()
    })),
    events: reports.events
  }
})
