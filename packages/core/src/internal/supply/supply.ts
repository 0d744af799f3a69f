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
import * as Tracer from "effect/Tracer"
import type { AccessScope } from "../../AccessScope.ts"
import type { AccessToken } from "../../AccessToken.ts"
import type * as TokenEndpoint from "../../TokenEndpoint.ts"
import { InvalidResponse, type TokenError, TransportError } from "../../TokenError.ts"
import * as TokenEvent from "../../TokenEvent.ts"
import type { TokenStatus } from "../../TokenStatus.ts"
import { amend } from "../amend.ts"
import * as Broadcast from "./broadcast.ts"
import * as Instant from "../instant.ts"
import * as Pause from "./pause.ts"
import { logError, logInfo, logWarning } from "../safeLog.ts"
import * as SingleFlight from "./singleFlight.ts"
import * as Life from "./tokenLife.ts"
import { within } from "../within.ts"

/** How often a flight retries after a retryable failure when there is no valid token. */
const retries = 2

/** A token endpoint keeps its own deadline. If an endpoint does not, the supply stops waiting this much later. */
const graceMillis = 1_000

/** A token request that is under way. */
interface Attempt {
  readonly reason: TokenEvent.RequestReason
  readonly sentAt: Instant.Instant
}

const wallTime = (instant: Instant.Instant): DateTime.Utc => DateTime.unsafeMake(instant.wallMillis)

const failedRequests = ({ failures, since }: NonNullable<Life.State["streak"]>): string =>
  `after ${failures} failed ${failures === 1 ? "request" : "requests"} since ${DateTime.formatIso(wallTime(since))}`

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
  let callersWaiting = 0
  let tokensServed = 0
  /** The spans of the token requests of the last flight. */
  let spans: Array<Tracer.Span> = []
  // After the scope is closed, no token is returned and no flight begins: callers are interrupted.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      state = Life.none
      isOpen = false
    })
  )

  const announce = (event: (at: DateTime.Utc) => TokenEvent.TokenEvent) =>
    events.publish(() => event(DateTime.unsafeMake(clock.unsafeCurrentTimeMillis())))

  /** What the events of a token request have in common. */
  const about = (attempt: Attempt) => ({
    tokenEndpoint: endpoint.url,
    reason: attempt.reason,
    duration: Duration.millis(Instant.millisBetween(attempt.sentAt, now()))
  })

  const where = { environment: endpoint.environment.name, tokenEndpoint: endpoint.url }
  const endpointHost = URL.canParse(endpoint.url) ? new URL(endpoint.url).hostname : endpoint.url
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

  /** A span of its own for each token request. The calls that wait for the request link to it. */
  const inSpan = <A>({ reason }: Attempt, run: Effect.Effect<A, TokenError>): Effect.Effect<A, TokenError> =>
    Effect.useSpan("TokenEndpoint.requestToken", {
      kind: "client",
      captureStackTrace: false,
      attributes: {
        "credit_data.environment": where.environment,
        "server.address": endpointHost,
        "credit_data.token.reason": reason
      }
    }, (span) => {
      spans.push(span)
      return run.pipe(
        Effect.tapError((error) => Effect.sync(() => span.attribute("error.type", error._tag))),
        Effect.withParentSpan(span)
      )
    })

  const request = Effect.fnUntraced(function*(
    attempt: Attempt,
    endsAt: Instant.Instant,
    onTimeout: TokenError
  ): Effect.fn.Return<AccessToken, TokenError> {
    const { reason, sentAt } = attempt
    yield* announce((at) => TokenEvent.Requested({ at, tokenEndpoint: endpoint.url, reason }))
    const dueShare = yield* Random.nextRange(options.renewalWindow.from, options.renewalWindow.to)
    state = Life.requested(state)
    const orDied = Effect.catchAllCause((cause: Cause.Cause<TokenError>) =>
      Effect.fail(Option.getOrElse(Cause.failureOption(cause), () => died(cause)))
    )
    let before = state
    let dueAt = sentAt
    const token = yield* orDied(inSpan(
      attempt,
      Effect.flatMap(
        within(Instant.millisBetween(sentAt, endsAt), constant(onTimeout))(orDied(endpoint.requestToken)),
        (token) => {
          before = state
          const next = Life.obtained(before, token, sentAt, { dueShare, missesScope: missingScopes(token).length > 0 })
          if (Life.servable(next, now()) === undefined) {
            return Effect.fail(new InvalidResponse({ ...where, status: 200, rule: "Expired" }))
          }
          state = next
          dueAt = next.held.dueAt
          return Effect.succeed(token)
        }
      )
    ))
    pauses.reset()
    const { scopes, expiresAt } = token
    const isRenewal = Life.servable(before, now()) !== undefined
    const event = isRenewal ? TokenEvent.Renewed : TokenEvent.Obtained
    yield* announce((at) => event({ at, ...about(attempt), scopes, expiresAt, dueAt: wallTime(dueAt) }))
    yield* logInfo(
      `An access token was ${isRenewal ? "renewed" : "obtained"} from ${endpoint.url} (${where.environment})` +
        `${before.streak === undefined ? "" : `, ${failedRequests(before.streak)}`}. ` +
        `It expires at ${DateTime.formatIso(expiresAt)}.`
    )
    yield* noteShortGrant(token)
    return token
  })

  const recover = Effect.fnUntraced(function*(
    error: TokenError,
    attempt: Attempt,
    endsAt: Instant.Instant,
    retriesLeft: number
  ): Effect.fn.Return<AccessToken, TokenError> {
    const failedAt = now()
    state = Life.requestFailed(state, failedAt)
    const hasToken = Life.servable(state, failedAt) !== undefined
    // The transports do not report whether the server had closed an idle connection, so the first reset is retried at once.
    const atOnce = !hasToken && retriesLeft === retries && error._tag === "TransportError" && error.reason === "Reset"
    const pause = atOnce ? Duration.zero : yield* pauses.after(error)
    const nextTryAt = Instant.later(failedAt, Duration.toMillis(pause))
    const failure = amend(error, { nextTryAt: wallTime(nextTryAt) })
    yield* announce((at) => TokenEvent.Failed({ at, ...about(attempt), error: failure }))

    if (!hasToken && error.retryable && retriesLeft > 0 && Instant.millisBetween(nextTryAt, endsAt) > 0) {
      if (!atOnce) yield* Effect.sleep(pause)
      return yield* attemptRequest("Retry", endsAt, amend(error, { deadlineEnded: true }), endsAt, retriesLeft - 1)
    }
    const before = state.failure?.error
    state = Life.failed(state, failure, nextTryAt)
    if (!error.retryable && before?._tag !== error._tag) {
      yield* logError(
        `Token requests are refused${hasToken ? ", the valid token stays in use" : ""}. ${failure.message}`
      )
    } else if (hasToken && before === undefined) {
      yield* logWarning(`An access token was not renewed, the valid one stays in use. ${failure.message}`)
    }
    return yield* failure
  })

  const attemptRequest = (
    reason: TokenEvent.RequestReason,
    requestEndsAt: Instant.Instant,
    onTimeout: TokenError,
    endsAt: Instant.Instant,
    retriesLeft: number
  ): Effect.Effect<AccessToken, TokenError> =>
    Effect.suspend(() => {
      const attempt = { reason, sentAt: now() }
      return Effect.catchAll(
        request(attempt, requestEndsAt, onTimeout),
        (error) => recover(error, attempt, endsAt, retriesLeft)
      )
    })

  const flight = (reason: TokenEvent.RequestReason, prepare: Effect.Effect<void>) =>
    Effect.suspend(() => {
      spans = []
      const endsAt = Instant.later(now(), deadlineMillis)
      return Effect.zipRight(
        prepare,
        attemptRequest(reason, Instant.later(endsAt, graceMillis), timedOut, endsAt, retries)
      )
    })

  const begin = (
    reason: TokenEvent.RequestReason = Life.reason(state, now()),
    prepare: Effect.Effect<void> = Effect.void
  ) => flights.begin(flight(reason, prepare), deadlineMillis + 2 * graceMillis)

  const linkToRequests = (caller: Tracer.Span) =>
    Effect.sync(() => caller.addLinks(spans.map((span) => ({ _tag: "SpanLink" as const, span, attributes: {} })))).pipe(
      // a tracer may throw
      Effect.catchAllCause(() => Effect.void)
    )

  const waited = Effect.sync(() => {
    callersWaiting--
  })

  /** Waits for the outcome of the flight that is under way. */
  const landing = Effect.flatMap(Effect.serviceOption(Tracer.ParentSpan), (caller) => {
    callersWaiting++
    return Effect.ensuring(
      flights.landing(),
      Option.isSome(caller) && caller.value._tag === "Span"
        ? Effect.zipRight(waited, linkToRequests(caller.value))
        : waited
    )
  })
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
        announce((at) => TokenEvent.Invalidated({ at, tokenEndpoint: endpoint.url })),
        Effect.sync(() => {
          if (Life.remembered(state, now()) === undefined) begin()
        })
      )
    })

  const replacement = (rejected: AccessToken): Effect.Effect<AccessToken, TokenError> =>
    Effect.suspend(() =>
      Life.decideReplacement<Effect.Effect<AccessToken, TokenError>>(state, rejected, now(), {
        get: () => get,
        serve,
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
        begin("Refresh", endpoint.rereadCredentials)
      }
      return Effect.flatMap(landing, (exit) => landed(exit, () => get))
    }),
    reportMissingScope: (scope: AccessScope) =>
      Effect.sync(() => {
        const before = state
        if (state.held?.token.covers(scope) === false) state = Life.scopeMissed(state, now())
        if (state !== before) begin("Insufficient")
        return wallTime(Life.nextTryForScope(state, now()))
      }),
    status: Effect.sync((): TokenStatus => ({
      environment: where.environment,
      tokenEndpoint: endpoint.url,
      version: Option.fromNullable(endpoint.version),
      requestedScopes,
      missingScopes: state.held === undefined ? [] : missingScopes(state.held.token),
      ...Life.status(state, now()),
      callersWaiting,
      tokensServed,
      eventsLost: events.lost()
    })),
    events: events.stream
  }
})
