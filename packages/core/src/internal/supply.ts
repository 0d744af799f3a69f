import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberHandle from "effect/FiberHandle"
import * as FiberId from "effect/FiberId"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type { AccessToken } from "../AccessToken.ts"
import type * as AccessTokens from "../AccessTokens.ts"
import type * as TokenEndpoint from "../TokenEndpoint.ts"
import { type TokenError, TransportError } from "../TokenError.ts"
import * as TokenEvent from "../TokenEvent.ts"
import { amend } from "./amend.ts"
import * as Broadcast from "./broadcast.ts"
import * as Instant from "./instant.ts"
import * as Pause from "./pause.ts"
import * as Life from "./tokenLife.ts"

/** How often a flight repeats a retryable failure by itself when there is no token to fall back on. */
const repeats = 2

/** How a flight ended. It never fails by itself, for its failure belongs to those who wait. */
type Flown = Exit.Exit<AccessToken, TokenError>

interface Options {
  readonly renewalWindow: { readonly from: number; readonly to: number }
  readonly pause: Schedule.Schedule<unknown, TokenError>
  readonly forcedRenewalPause: Duration.Duration
}

/**
 * The supply: one state, changed in synchronous steps, and at most one flight, which is a token request with its
 * repeats. The flight belongs to the scope and not to the caller who began it.
 */
export const make = Effect.fnUntraced(function*(
  endpoint: TokenEndpoint.Service,
  options: Options
): Effect.fn.Return<AccessTokens.Service, never, Scope.Scope> {
  const clock = yield* Effect.clock
  const events = yield* Broadcast.make<TokenEvent.TokenEvent>(64)
  const flights = yield* FiberHandle.make<Flown, never>()
  const fork = yield* FiberHandle.runtime(flights)()
  const pauses = Pause.make(options.pause)

  let state = Life.none
  // Once the scope is closed nothing is served, and no flight begins: those who ask are interrupted.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      state = Life.none
    })
  )

  const announce = (event: (at: DateTime.Utc) => TokenEvent.TokenEvent) =>
    events.publish(() => event(DateTime.unsafeMake(clock.unsafeCurrentTimeMillis())))

  const request = Effect.fnUntraced(function*(endsAt: Instant.Instant): Effect.fn.Return<AccessToken, TokenError> {
    yield* announce((at) => TokenEvent.Requested({ at }))
    const dueShare = yield* Random.nextRange(options.renewalWindow.from, options.renewalWindow.to)
    const sentAt = Instant.now(clock)
    state = Life.requested(state)
    const token = yield* endpoint.requestToken
    if (Life.isRejected(state, token)) return yield* requestAgain(endsAt)
    const event = Life.servable(state, Instant.now(clock)) === undefined ? TokenEvent.Obtained : TokenEvent.Renewed
    state = Life.obtained(state, token, sentAt, dueShare)
    pauses.reset()
    yield* announce((at) => event({ at, scopes: token.scopes, expiresAt: token.expiresAt }))
    return token
  })

  const timedOut = new TransportError({
    environment: endpoint.environment.name,
    tokenEndpoint: endpoint.url,
    reason: "Timeout"
  })

  // The first request of a flight keeps its deadline by itself; every further one has what is left of it.
  const requestAgain = (endsAt: Instant.Instant): Effect.Effect<AccessToken, TokenError> =>
    Effect.suspend(() =>
      Effect.timeoutFail(request(endsAt), {
        duration: Duration.millis(Instant.millisBetween(Instant.now(clock), endsAt)),
        onTimeout: () => timedOut
      })
    )

  const recover = Effect.fnUntraced(function*(
    error: TokenError,
    endsAt: Instant.Instant,
    repeatsLeft: number
  ): Effect.fn.Return<AccessToken, TokenError> {
    const pause = yield* pauses.after(error)
    const now = Instant.now(clock)
    const nextTryAt = Instant.later(now, Duration.toMillis(pause))
    const failure = amend(error, { nextTryAt: DateTime.unsafeMake(nextTryAt.wallMillis) })
    yield* announce((at) => TokenEvent.Failed({ at, error: failure }))

    const token = Life.servable(state, now)
    const timeLeft = Instant.millisBetween(nextTryAt, endsAt)
    if (token === undefined && error.retryable && repeatsLeft > 0 && timeLeft > 0) {
      yield* Effect.sleep(pause)
      return yield* Effect.catchAll(requestAgain(endsAt), (next) => recover(next, endsAt, repeatsLeft - 1))
    }
    if (token !== undefined && state.failure === undefined) {
      yield* Effect.logWarning(`An access token wasn't renewed, the valid one stays in use. ${failure.message}`)
    }
    state = Life.failed(state, failure, nextTryAt)
    return yield* failure
  })

  // The flight answers callers from many traces, and is a part of none.
  const flight = Effect.suspend(() => {
    const endsAt = Instant.later(Instant.now(clock), Duration.toMillis(endpoint.deadline))
    return Effect.catchAll(request(endsAt), (error) => recover(error, endsAt, repeats))
  }).pipe(
    Effect.exit,
    Effect.mapInputContext((context: Context.Context<never>) => Context.omit(Tracer.ParentSpan)(context))
  )

  // Look and fork are one synchronous step, so that there is never a second flight. Its end is handed on by a Deferred,
  // for waiting for a fiber costs each of many callers more.
  let landing = Deferred.unsafeMake<Exit.Exit<Flown>>(FiberId.none)
  const begin = () => {
    if (Option.isNone(FiberHandle.unsafeGet(flights))) {
      const landed = Deferred.unsafeMake<Exit.Exit<Flown>>(FiberId.none)
      fork(flight).addObserver((exit) => Deferred.unsafeDone(landed, Effect.succeed(exit)))
      landing = landed
    }
  }
  const join = () => {
    begin()
    return Deferred.await(landing)
  }

  // A flight tells that something has changed. What a caller gets, it reads from the state: a flight that failed leaves
  // a valid token where it was, and a token may have been rejected by now.
  const read = (flown: Exit.Exit<Flown>): Effect.Effect<AccessToken, TokenError> => {
    const exit = Exit.flatten(flown)
    if (Exit.isInterrupted(exit)) return Effect.interrupt
    return Life.servable(state, Instant.now(clock)) ?? (Exit.isFailure(exit) ? exit : get)
  }

  const callers = {
    serve: identity<Exit.Exit<AccessToken>>,
    serveAndRenew: (token: Exit.Exit<AccessToken>) => {
      begin()
      return token
    },
    await: () => Effect.flatMap(join(), read),
    awaitFor: (patience: number) =>
      Effect.flatMap(
        Effect.withClock(Effect.timeoutOption(join(), Duration.millis(patience)), clock),
        Option.match({ onNone: () => Life.servable(state, Instant.now(clock)) ?? get, onSome: read })
      ),
    fail: identity<Exit.Exit<never, TokenError>>
  }

  const get: Effect.Effect<AccessToken, TokenError> = Effect.suspend(() =>
    Life.decide<Effect.Effect<AccessToken, TokenError>>(state, Instant.now(clock), callers)
  )

  const invalidate = (rejected: AccessToken) =>
    Effect.suspend(() => {
      const before = state
      state = Life.invalidated(state, rejected, Instant.now(clock), Duration.toMillis(options.forcedRenewalPause))
      return state === before ? Effect.void : announce((at) => TokenEvent.Invalidated({ at }))
    })

  return {
    environment: endpoint.environment,
    requestedScopes: endpoint.requestedScopes,
    get,
    invalidate,
    status: Effect.sync(() => ({
      environment: endpoint.environment.name,
      ...Life.status(state, Instant.now(clock))
    })),
    events: events.stream
  }
})
