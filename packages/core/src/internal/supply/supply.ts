import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import type { AccessScope } from "../../AccessScope.ts"
import type { AccessToken } from "../../AccessToken.ts"
import type * as TokenEndpoint from "../../TokenEndpoint.ts"
import type { TokenError } from "../../TokenError.ts"
import type { TokenStatus } from "../../TokenStatus.ts"
import * as Instant from "../instant.ts"
import * as Flights from "./flights.ts"
import * as Reports from "./reports.ts"
import * as StoreLookup from "./storeLookup.ts"
import * as Life from "./tokenLife.ts"

/** `refresh` sends at most one request in this time. */
const refreshMillis = 1_000

type Token = Effect.Effect<AccessToken, TokenError>

/** The supply: what its callers get, from one state and at most one flight. */
export const make = Effect.fnUntraced(function*(
  endpoint: TokenEndpoint.Service,
  options: Flights.Options
) {
  const clock = yield* Effect.clock
  const now = () => Instant.now(clock)
  const cell: Flights.Cell = { life: Life.none }
  const reports = yield* Reports.make(endpoint, clock)
  const flights = yield* Flights.make({ cell, clock, endpoint, options, reports })
  const lookUp = endpoint.sharing === undefined ? undefined : yield* StoreLookup.make(clock, flights.find)
  // what the supply logs goes to its own loggers, even when a caller causes it
  const inBackground = yield* FiberSet.makeRuntime()
  const forcedRenewalMillis = Duration.toMillis(options.forcedRenewalPause)

  let isOpen = true
  let refreshedAt: Instant.Instant | undefined
  let tokensServed = 0
  /** What the clients of this supply need. */
  const needed = new Set<AccessScope>()
  let hasClientOfAnyScope = false
  const isBlocked = (token: AccessToken) =>
    !hasClientOfAnyScope && needed.size > 0 && !Array.from(needed).some((scope) => token.covers(scope))
  // After the scope is closed, no token is returned and no flight begins: callers are interrupted.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      cell.life = Life.none
      isOpen = false
    })
  )

  // After a flight, waiting callers look at the state again: a failed flight leaves a valid token in place, and a new token may
  // already be rejected. A flight that was replaced is interrupted.
  const after = (exit: Exit.Exit<AccessToken, TokenError>, next: () => Token): Token =>
    Exit.isInterrupted(exit) ? (isOpen ? next() : Effect.interrupt) : Exit.isFailure(exit) ? exit : next()

  const returnToken = (token: Exit.Exit<AccessToken>) => {
    tokensServed++
    return token
  }

  /** A valid token, whatever the outcome of a flight was. */
  const validOr = (onNone: () => Token): Token => {
    const token = Life.validToken(cell.life, now())
    return token === undefined ? onNone() : returnToken(token)
  }
  const validAfter = (exit: Exit.Exit<AccessToken, TokenError>) => validOr(() => after(exit, () => get))
  const tokenAfterFlight = Effect.flatMap(flights.outcome, validAfter)

  /** What a caller gets by each decision of `Life.decide`. */
  const outcomes = {
    returnToken,
    returnAndRenew: (at: Instant.Instant, token: Exit.Exit<AccessToken>) => {
      flights.begin(at)
      return returnToken(token)
    },
    await: (at: Instant.Instant) => {
      flights.begin(at)
      return tokenAfterFlight
    },
    awaitFor: (at: Instant.Instant, patience: number) => {
      flights.begin(at)
      return flights.outcome.pipe(
        Effect.interruptible,
        Effect.timeoutOption(Duration.millis(patience)),
        Effect.withClock(clock),
        Effect.flatMap(Option.match({ onNone: () => validOr(() => get), onSome: validAfter }))
      )
    },
    fail: lookUp === undefined
      ? identity<Token>
      : (failure: Exit.Exit<never, TokenError>) => Effect.zipRight(lookUp, Effect.suspend(() => validOr(() => failure)))
  }

  const get: Token = Effect.suspend(() => Life.decide<Token>(cell.life, now(), outcomes))

  /** Marks the current token as rejected, and starts its renewal. */
  const invalidate = (rejected: AccessToken) =>
    Effect.suspend(() => {
      const before = cell.life
      const at = now()
      cell.life = Life.rejected(before, rejected, at, forcedRenewalMillis)
      const { held } = cell.life
      if (cell.life === before || held === undefined) return Effect.void
      return Effect.zipRight(
        reports.invalidated,
        Instant.reached(at, held.dueAt)
          ? Effect.sync(() => {
            const present = now()
            if (Life.remembered(cell.life, present) === undefined) flights.begin(present)
          })
          : Effect.sync(() => {
            inBackground(reports.rejectedAgain(held.dueAt))
          })
      )
    })

  const replacement = (rejected: AccessToken): Token =>
    Effect.suspend(() =>
      Life.decideReplacement<Token>(cell.life, rejected, now(), {
        get: () => get,
        returnToken,
        await: (at) => {
          flights.begin(at)
          return Effect.flatMap(flights.outcome, (exit) => after(exit, () => replacement(rejected)))
        },
        fail: (failure) =>
          lookUp === undefined ? failure : Effect.zipRight(
            lookUp,
            Effect.suspend(() => cell.life.failure === undefined ? replacement(rejected) : failure)
          )
      })
    )

  return {
    environment: endpoint.environment,
    requestedScopes: endpoint.requestedScopes,
    get,
    invalidate,
    replace: (rejected: AccessToken) =>
      Effect.zipRight(
        invalidate(rejected),
        // one flight keeps the deadline, but a second flight after it would exceed the deadline
        flights.withinOne(replacement(rejected))
      ),
    refresh: Effect.suspend(() => {
      const at = now()
      if (!flights.isUnderWay(at)) {
        if (refreshedAt !== undefined && !Instant.reached(at, Instant.later(refreshedAt, refreshMillis))) return get
        refreshedAt = at
        cell.life = Life.forgotten(cell.life)
        flights.begin(at, () => ({ _tag: "Refresh", token: cell.life.held?.token }), endpoint.client?.rereadCredentials)
      }
      return Effect.flatMap(flights.outcome, (exit) => after(exit, () => get))
    }),
    registerClient: (scope: Option.Option<AccessScope>) =>
      Effect.sync(() => {
        if (Option.isSome(scope)) needed.add(scope.value)
        else hasClientOfAnyScope = true
      }),
    reportMissingScope: (scope: AccessScope) =>
      Effect.sync(() => {
        const at = now()
        const before = cell.life
        const token = before.held?.token
        if (token?.covers(scope) === false) cell.life = Life.scopeMissed(before, at)
        // before the flight begins, because its first steps run at once
        const nextTryAt = Life.nextTryForScope(cell.life, at)
        if (token !== undefined && cell.life !== before) {
          flights.begin(at, () => ({ _tag: "Insufficient", token, scope }))
        }
        return Instant.wallTime(nextTryAt)
      }),
    status: Effect.sync((): TokenStatus => ({
      environment: endpoint.environment.name,
      tokenEndpoint: endpoint.url,
      version: Option.fromNullable(endpoint.version),
      requestedScopes: Option.getOrElse(endpoint.requestedScopes, () => []),
      missingScopes: cell.life.held === undefined ? [] : cell.life.held.token.missing(endpoint.requestedScopes),
      blocked: cell.life.held !== undefined && isBlocked(cell.life.held.token),
      ...Life.status(cell.life, now()),
      callersWaiting: flights.callersWaiting(),
      tokensServed,
      eventsLost: reports.eventsLost(),
      store: Option.none()
    })),
    events: reports.events
  }
})
