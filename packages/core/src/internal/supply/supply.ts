import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { constant, identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import type * as Schedule from "effect/Schedule"
import type { AccessScope } from "../../AccessScope.ts"
import type { AccessToken } from "../../AccessToken.ts"
import type * as TokenEndpoint from "../../TokenEndpoint.ts"
import { InvalidResponse, type TokenError, TransportError } from "../../TokenError.ts"
import * as TokenEvent from "../../TokenEvent.ts"
import { amend } from "../amend.ts"
import * as Broadcast from "./broadcast.ts"
import * as Instant from "../instant.ts"
import * as Pause from "./pause.ts"
import { logWarning } from "../safeLog.ts"
import * as SingleFlight from "./singleFlight.ts"
import * as Life from "./tokenLife.ts"
import { within } from "../within.ts"

/** How often a flight retries after a retryable failure when there is no valid token. */
const retries = 2

/** A token endpoint keeps its own deadline. If an endpoint does not, the supply stops waiting this much later. */
const graceMillis = 1_000

/** `refresh` sends at most one request in this time. */
const refreshMillis = 1_000

interface Options {
  readonly renewalWindow: { readonly from: number; readonly to: number }
  readonly pause: Schedule.Schedule<unknown, TokenError>
  readonly forcedRenewalPause: Duration.Duration
}

/** The supply: one state that changes in synchronous steps, and at most one flight (a token request with its retries). */
export const make = Effect.fnUntraced(function*(
  endpoint: TokenEndpoint.Service,
  options: Options
) {
  const clock = yield* Effect.clock
  const now = () => Instant.now(clock)
  const events = yield* Broadcast.make<TokenEvent.TokenEvent>(64)
  const flights = yield* SingleFlight.make<AccessToken, TokenError>(clock)
  const pauses = Pause.make(options.pause)
  const deadlineMillis = Duration.toMillis(endpoint.deadline)
  const requestedScopes = Option.getOrElse(endpoint.requestedScopes, () => [])
  const missingScopes = (token: AccessToken) => requestedScopes.filter((scope) => !token.covers(scope))

  let state = Life.none
  let isOpen = true
  let refreshedAt: Instant.Instant | undefined
  let grantWasShort = false
  // After the scope is closed, no token is returned and no flight begins: callers are interrupted.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      state = Life.none
      isOpen = false
    })
  )

  const announce = (event: (at: DateTime.Utc) => TokenEvent.TokenEvent) =>
    events.publish(() => event(DateTime.unsafeMake(clock.unsafeCurrentTimeMillis())))

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

  const noteShortGrant = (token: AccessToken) =>
    Effect.suspend(() => {
      const missing = missingScopes(token)
      if (missing.length === 0 || grantWasShort) return Effect.void
      grantWasShort = true
      return logWarning(
        `The token endpoint ${endpoint.url} (${where.environment}) granted less than was requested: ` +
          `${missing.join(" ")} is missing. Calls that need it fail. Ask the operator to grant it to this client.`
      )
    })

  const request = Effect.fnUntraced(function*(
    endsAt: Instant.Instant,
    onTimeout: TokenError
  ): Effect.fn.Return<AccessToken, TokenError> {
    yield* announce((at) => TokenEvent.Requested({ at }))
    const dueShare = yield* Random.nextRange(options.renewalWindow.from, options.renewalWindow.to)
    const sentAt = now()
    state = Life.requested(state)
    const token = yield* endpoint.requestToken.pipe(
      Effect.catchAllCause((cause) => Effect.fail(Option.getOrElse(Cause.failureOption(cause), () => died(cause)))),
      within(Instant.millisBetween(sentAt, endsAt), constant(onTimeout))
    )
    const missesScope = missingScopes(token).length > 0
    const next = Life.obtained(state, token, sentAt, { dueShare, missesScope })
    if (Life.servable(next, now()) === undefined) {
      return yield* new InvalidResponse({ ...where, status: 200, rule: "Expired" })
    }
    const event = Life.servable(state, now()) === undefined ? TokenEvent.Obtained : TokenEvent.Renewed
    state = next
    pauses.reset()
    yield* announce((at) => event({ at, scopes: token.scopes, expiresAt: token.expiresAt }))
    yield* noteShortGrant(token)
    return token
  })

  const recover = Effect.fnUntraced(function*(
    error: TokenError,
    endsAt: Instant.Instant,
    retriesLeft: number
  ): Effect.fn.Return<AccessToken, TokenError> {
    const failedAt = now()
    const hasToken = Life.servable(state, failedAt) !== undefined
    // The transports do not report whether the server had closed an idle connection, so the first reset is retried at once.
    const atOnce = !hasToken && retriesLeft === retries && error._tag === "TransportError" && error.reason === "Reset"
    const pause = atOnce ? Duration.zero : yield* pauses.after(error)
    const nextTryAt = Instant.later(failedAt, Duration.toMillis(pause))
    const failure = amend(error, { nextTryAt: DateTime.unsafeMake(nextTryAt.wallMillis) })
    yield* announce((at) => TokenEvent.Failed({ at, error: failure }))

    if (!hasToken && error.retryable && retriesLeft > 0 && Instant.millisBetween(nextTryAt, endsAt) > 0) {
      if (!atOnce) yield* Effect.sleep(pause)
      return yield* Effect.catchAll(
        request(endsAt, amend(error, { deadlineEnded: true })),
        (next) => recover(next, endsAt, retriesLeft - 1)
      )
    }
    const isNew = state.failure === undefined
    state = Life.failed(state, failure, nextTryAt)
    if (hasToken && isNew) {
      yield* logWarning(`An access token was not renewed, the valid one stays in use. ${failure.message}`)
    }
    return yield* failure
  })

  const flight = (prepare: Effect.Effect<void>) =>
    Effect.suspend(() => {
      const endsAt = Instant.later(now(), deadlineMillis)
      return Effect.zipRight(
        prepare,
        Effect.catchAll(
          request(Instant.later(endsAt, graceMillis), timedOut),
          (error) => recover(error, endsAt, retries)
        )
      )
    })

  const begin = (prepare: Effect.Effect<void> = Effect.void) =>
    flights.begin(flight(prepare), deadlineMillis + 2 * graceMillis)
  const join = () => {
    begin()
    return flights.landing()
  }

  // After a flight, waiting callers read the state again: a failed flight leaves a valid token in place, and a new token may
  // already be rejected. A flight that was replaced is interrupted.
  const landed = (
    exit: Exit.Exit<AccessToken, TokenError>,
    read: () => Effect.Effect<AccessToken, TokenError>
  ): Effect.Effect<AccessToken, TokenError> =>
    Exit.isInterrupted(exit) ? (isOpen ? read() : Effect.interrupt) : Exit.isFailure(exit) ? exit : read()

  const read = (exit: Exit.Exit<AccessToken, TokenError>): Effect.Effect<AccessToken, TokenError> =>
    Life.servable(state, now()) ?? landed(exit, () => get)

  const callers = {
    serve: identity<Exit.Exit<AccessToken>>,
    serveAndRenew: (token: Exit.Exit<AccessToken>) => {
      begin()
      return token
    },
    await: () => Effect.flatMap(join(), read),
    awaitFor: (patience: number) =>
      join().pipe(
        Effect.interruptible,
        Effect.timeoutOption(Duration.millis(patience)),
        Effect.withClock(clock),
        Effect.flatMap(Option.match({ onNone: () => Life.servable(state, now()) ?? get, onSome: read }))
      ),
    fail: identity<Exit.Exit<never, TokenError>>
  }

  const get: Effect.Effect<AccessToken, TokenError> = Effect.suspend(() =>
    Life.decide<Effect.Effect<AccessToken, TokenError>>(state, now(), callers)
  )

  /** Marks the held token as rejected, and starts its renewal. */
  const reject = (rejected: AccessToken) =>
    Effect.suspend(() => {
      const before = state
      state = Life.invalidated(state, rejected, now(), Duration.toMillis(options.forcedRenewalPause))
      return state === before ? Effect.void : Effect.zipRight(
        announce((at) => TokenEvent.Invalidated({ at })),
        Effect.sync(() => {
          if (Life.remembered(state, now()) === undefined) begin()
        })
      )
    })

  const replacement = (rejected: AccessToken): Effect.Effect<AccessToken, TokenError> =>
    Effect.suspend(() =>
      Life.decideReplacement<Effect.Effect<AccessToken, TokenError>>(state, rejected, now(), {
        get: () => get,
        serve: identity,
        await: () => Effect.flatMap(join(), (exit) => landed(exit, () => replacement(rejected))),
        fail: identity
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
        replacement(rejected).pipe(within(deadlineMillis + graceMillis, constant(timedOut)), Effect.withClock(clock))
      ),
    refresh: Effect.suspend(() => {
      const at = now()
      if (!flights.isUnderWay()) {
        if (refreshedAt !== undefined && !Instant.reached(at, Instant.later(refreshedAt, refreshMillis))) return get
        refreshedAt = at
        state = Life.forgotten(state)
        begin(endpoint.rereadCredentials)
      }
      return Effect.flatMap(flights.landing(), (exit) => landed(exit, () => get))
    }),
    reportMissingScope: (scope: AccessScope) =>
      Effect.sync(() => {
        const before = state
        if (state.held?.token.covers(scope) === false) state = Life.scopeMissed(state, now())
        if (state !== before) begin()
        return DateTime.unsafeMake(Life.nextTryForScope(state, now()).wallMillis)
      }),
    status: Effect.sync(() => ({
      environment: endpoint.environment.name,
      ...Life.status(state, now()),
      missingScopes: state.held === undefined ? [] : missingScopes(state.held.token)
    })),
    events: events.stream
  }
})
