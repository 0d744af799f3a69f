import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type { AccessScope } from "../AccessScope.ts"
import type { AccessToken } from "../AccessToken.ts"
import type * as TokenEndpoint from "../TokenEndpoint.ts"
import { InvalidClient, InvalidResponse, ServerError, type TokenError, TransportError } from "../TokenError.ts"
import type { RequestReason } from "../TokenEvent.ts"
import type { TokenStatus } from "../TokenStatus.ts"
import * as Instant from "./dualClock.ts"
import * as Announcements from "./announcements.ts"
import * as TokenState from "./tokenState.ts"
import { within } from "./within.ts"

type Token = Effect.Effect<AccessToken, TokenError>

/** Callers that wait for one event. A Set, because 10 000 interrupted callers of a Deferred cost quadratic time. */
class Waiters {
  readonly #callers = new Set<(event: Effect.Effect<void>) => void>()
  isDone = false
  readonly wait = Effect.async<void>((resume) => {
    if (this.isDone) return resume(Effect.void)
    this.#callers.add(resume)
    return Effect.sync(() => void this.#callers.delete(resume))
  })

  get size(): number {
    return this.#callers.size
  }

  done(): void {
    this.isDone = true
    for (const resume of this.#callers) resume(Effect.void)
    this.#callers.clear()
  }
}

/** A token request with its retries, which all waiting callers share. */
interface Flight {
  readonly waiters: Waiters
  /** A flight that has not ended by then has lost its timers, and is replaced. */
  readonly overdueAt: Instant.Instant
  /** The spans of its requests, and how many of them have ended. */
  readonly spans: Array<Tracer.Span>
  ended: number
  fiber: Fiber.RuntimeFiber<void> | undefined
  /** What callers without a valid token get when the flight has failed. */
  failure: Exit.Exit<never, TokenError> | undefined
}

/** A token endpoint keeps its own deadline. If an endpoint does not, the supply stops waiting this much later. */
const graceMillis = 1_000

/** `refresh` sends at most one request in this time. */
const refreshMillis = 1_000

/** The pause between two looks for a token elsewhere. It differs, so that processes do not look at the same time. */
const lookMillis = { from: 750, to: 1_250 }

/** A caller waits for a look for at most this long, before it gets the remembered failure. */
const lookPatienceMillis = 600

/** A timeout and a certificate need different people, so the reason of a TransportError is its type. */
const errorType = (error: TokenError): string => error._tag === "TransportError" ? error.reason : error._tag

/** A copy of the failure with what only a supply can add: when the next request may be sent, and whether its deadline ended the retries. */
export const amend = (
  error: TokenError,
  known: { readonly nextTryAt: DateTime.Utc | undefined; readonly deadlineEnded?: boolean }
): TokenError => {
  switch (error._tag) {
    case "InvalidClient":
      return new InvalidClient({ ...error, ...known })
    case "ServerError":
      return new ServerError({ ...error, ...known })
    case "InvalidResponse":
      return new InvalidResponse({ ...error, ...known })
    case "TransportError":
      return new TransportError({ ...error, ...known })
  }
}

export interface Options {
  readonly renewalWindow: { readonly from: number; readonly to: number }
  readonly forcedRenewalPause: Duration.Duration
}

/** The supply: what its callers get, from one state and at most one flight. */
export const make = Effect.fnUntraced(function*(
  endpoint: TokenEndpoint.Service,
  options: Options
) {
  const clock = yield* Effect.clock
  const now = () => Instant.now(clock)
  const { requestedScopes, sharing } = endpoint
  const where = { environment: endpoint.environment.name, tokenEndpoint: endpoint.url }
  const announcements = yield* Announcements.make(endpoint, clock)
  const forcedRenewalMillis = Duration.toMillis(options.forcedRenewalPause)
  const deadlineMillis = Duration.toMillis(endpoint.deadline)
  const limit = Duration.sum(sharing?.timeLimit ?? endpoint.deadline, Duration.millis(graceMillis))
  const limitMillis = Duration.toMillis(limit)
  const timedOut = new TransportError({ ...where, reason: "Timeout", deadline: endpoint.deadline })
  const spanAttributes = {
    "credit_data.environment": where.environment,
    "http.request.method": "POST",
    "server.address": URL.canParse(endpoint.url) ? new URL(endpoint.url).hostname : endpoint.url
  }

  let state = TokenState.none
  let flight: Flight | undefined
  let refreshedAt: Instant.Instant | undefined
  let tokensServed = 0

  const fork = yield* FiberSet.makeRuntime<never, void, never>()
  /** Work of the supply. It belongs to no caller's trace, and runs even if the layer was built in an uninterruptible region. */
  const run = (work: Effect.Effect<void>): Fiber.RuntimeFiber<void> =>
    fork(work.pipe(Effect.interruptible, Effect.mapInputContext(Context.omit(Tracer.ParentSpan))))
  // runs before the fibers are interrupted, so nothing begins while they end
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      state = TokenState.closed(new TransportError({ ...where, reason: "Closed" }), now())
      flight?.waiters.done()
    })
  )

  const isUnderWay = (at: Instant.Instant): boolean =>
    flight !== undefined && !flight.waiters.isDone && !Instant.reached(at, flight.overdueAt)

  const died = (what: string, defect: unknown) =>
    new TransportError({
      ...where,
      reason: "Other",
      hint: `${what} died with ${Predicate.isError(defect) ? defect.name : "a value that is no error"}: repair it.`
    })

  /** A custom token endpoint may die or interrupt itself, which would end every caller. */
  const orDied = <A>(effect: Effect.Effect<A, TokenError>): Effect.Effect<A, TokenError> =>
    Effect.catchAllCause(effect, (cause) =>
      Effect.fail(Option.getOrElse(
        Cause.failureOption(cause),
        () => died("requestToken of this TokenEndpoint", Cause.squash(cause))
      )))

  /** Takes a token and reports it, unless it has expired already. */
  const take = (token: AccessToken, reason: RequestReason, sentAt: Instant.Instant, dueShare: number) =>
    Effect.suspend((): Effect.Effect<void, TokenError> => {
      const before = state
      const next = TokenState.obtained(before, token, sentAt, { dueShare, forcedRenewalMillis })
      if (next.isClosed) return Effect.interrupt
      const held = TokenState.validToken(next, now())
      if (held === undefined) return Effect.fail(new InvalidResponse({ ...where, status: 200, rule: "Expired" }))
      state = next
      return announcements.obtained(reason, sentAt, held, before)
    })

  const drawDueShare = Random.nextRange(options.renewalWindow.from, options.renewalWindow.to)

  /** The requests of a flight that retries until its deadline. */
  const requests = (own: Flight, deadlineAt: Instant.Instant, given: RequestReason | undefined) => {
    /** A request that is given up at its limit, and its retries. `before` is the failure that it retries. */
    const request = (retriesLeft: number, limitAt: Instant.Instant, before?: TokenError): Effect.Effect<void> =>
      Effect.suspend(() => {
        const sentAt = now()
        const reason = given ?? TokenState.reason(state, sentAt)
        let next: Effect.Effect<void> = Effect.void
        let deadlineEnded = false
        const failed = (error: TokenError, random: number): Effect.Effect<void> => {
          const at = now()
          const previous = state.failure?.error
          state = TokenState.failed(state, at)
          const { isRetried, pause } = TokenState.afterFailure(state, { error, at, deadlineAt, random, retriesLeft })
          const nextTryAt = Instant.later(at, pause)
          const known = amend(error, {
            nextTryAt: Instant.wallTime(nextTryAt),
            ...(deadlineEnded && { deadlineEnded })
          })
          own.ended = own.spans.length
          const reported = announcements.failed(reason, sentAt, known)
          if (isRetried) {
            next = Effect.delay(request(retriesLeft - 1, deadlineAt, error), pause)
            return reported
          }
          state = TokenState.gaveUp(state, known, nextTryAt)
          own.failure = Exit.fail(known)
          return Effect.zipRight(reported, announcements.gaveUp(known, TokenState.validToken(state, at), previous))
        }
        return Effect.gen(function*() {
          const span = yield* Effect.serviceOption(Tracer.ParentSpan)
          if (Option.isSome(span) && span.value._tag === "Span" && span.value.sampled) own.spans.push(span.value)
          yield* announcements.requested(reason)
          const [dueShare, random] = yield* Effect.all([drawDueShare, Random.next])
          yield* orDied(Effect.suspend(() => endpoint.requestToken(reason))).pipe(
            within(Instant.millisBetween(sentAt, limitAt), () => {
              deadlineEnded = before !== undefined
              return before ?? timedOut
            }),
            Effect.flatMap((token) => take(token, reason, sentAt, dueShare)),
            Effect.tapError((error) => Effect.annotateCurrentSpan("error.type", errorType(error))),
            Effect.tapError((error) => failed(error, random))
          )
        }).pipe(
          Effect.withSpan("TokenEndpoint.requestToken", {
            kind: "client",
            captureStackTrace: false,
            root: true,
            attributes: { ...spanAttributes, "credit_data.token.reason": reason._tag }
          }),
          Effect.catchAll(() => next)
        )
      })
    return request
  }

  /** Begins a flight unless another is under way. The check and the assignment are one synchronous step. */
  const begin = (at: Instant.Instant, given?: RequestReason): void => {
    if (state.isClosed || isUnderWay(at)) return
    const overdue = flight
    const own: Flight = {
      waiters: new Waiters(),
      overdueAt: Instant.later(at, limitMillis + graceMillis),
      spans: [],
      ended: 0,
      fiber: undefined,
      failure: undefined
    }
    // before the fork, because the first steps of a flight may request a token
    flight = own
    own.fiber = run(
      requests(own, Instant.later(at, deadlineMillis), given)(TokenState.retries, Instant.later(at, limitMillis)).pipe(
        // a logger or tracer that throws would otherwise make every caller begin another flight
        Effect.catchAllDefect((defect) =>
          Effect.sync(() => {
            const present = now()
            const error = died("The token request", defect)
            own.failure = Exit.fail(error)
            if (valid() === undefined) {
              state = TokenState.gaveUp(state, error, Instant.later(present, TokenState.longestPause))
            }
          })
        ),
        Effect.ensuring(Effect.sync(() => own.waiters.done()))
      )
    )
    if (overdue?.fiber !== undefined && !overdue.waiters.isDone) {
      run(Fiber.interrupt(overdue.fiber))
      overdue.waiters.done()
    }
  }

  /** Waits for the end of the current flight. The caller's span links to the requests that it has waited for. */
  const landing = Effect.flatMap(Effect.serviceOption(Tracer.ParentSpan), (parent) => {
    const joined = flight
    if (joined === undefined) return Effect.succeed(undefined)
    const landed = Effect.as(joined.waiters.wait, joined)
    if (Option.isNone(parent) || parent.value._tag !== "Span") return landed
    const caller = parent.value
    const { ended } = joined
    return Effect.ensuring(
      landed,
      Effect.sync(() =>
        caller.addLinks(joined.spans.slice(ended).map((span) => ({ _tag: "SpanLink" as const, span, attributes: {} })))
      )
    )
  })

  const serve = (token: Exit.Exit<AccessToken>): Token => {
    tokensServed++
    return token
  }

  /** A valid token with which a caller can do something, whatever the outcome of a flight was. */
  type Usable = () => ReturnType<typeof TokenState.validToken>
  const valid: Usable = () => TokenState.validToken(state, now())

  const carryOut = (decide: (at: Instant.Instant) => TokenState.Decision, usable: Usable): Token => {
    const usableOr = (otherwise: () => Token): Token => {
      const held = usable()
      return held === undefined ? otherwise() : serve(held.use.token)
    }
    const again: Token = Effect.suspend(() => {
      const at = now()
      const decision = decide(at)
      switch (decision._tag) {
        case "Use":
          return serve(decision.token)
        case "UseAndRenew":
          begin(at)
          return serve(decision.token)
        case "Wait":
          begin(at)
          return decision.patience === undefined ? landed : Effect.flatMap(
            Effect.timeoutOption(Effect.interruptible(landing), decision.patience).pipe(Effect.withClock(clock)),
            Option.match({ onNone: () => usableOr(() => again), onSome: afterLanding })
          )
        case "Fail":
          return look === undefined
            ? decision.failure
            : Effect.zipRight(look, Effect.suspend(() => usableOr(() => decision.failure)))
      }
    })
    // callers look at the state again: a failed flight leaves a valid token in place, and an overdue one was replaced
    const afterLanding = (ended: Flight | undefined): Token => usableOr(() => ended?.failure ?? again)
    const landed = Effect.flatMap(landing, afterLanding)
    return again
  }

  let lookedUntil: Instant.Instant | undefined
  let looking: Waiters | undefined
  const find = sharing?.find
  /** Looks for a token that exists elsewhere while a failure is remembered. Sends nothing to the token endpoint. */
  const look = find === undefined ? undefined : Effect.suspend(() => {
    const at = now()
    if (!state.isClosed && (lookedUntil === undefined || Instant.reached(at, lookedUntil))) {
      const own = new Waiters()
      looking = own
      lookedUntil = Instant.later(at, lookMillis.to)
      run(
        Effect.gen(function*() {
          lookedUntil = Instant.later(at, yield* Random.nextRange(lookMillis.from, lookMillis.to))
          const { failure } = state
          if (failure === undefined) return
          const reason = TokenState.reason(state, at)
          const found = yield* Effect.suspend(() => find(reason, failure.error))
          const dueShare = yield* drawDueShare
          if (Option.isNone(found) || state.failure !== failure || isUnderWay(now())) return
          yield* take(found.value, reason, at, dueShare)
        }).pipe(
          Effect.ignore,
          Effect.ensuring(Effect.sync(() => own.done()))
        )
      )
    }
    return looking === undefined
      ? Effect.void
      : Effect.timeoutOption(Effect.interruptible(looking.wait), lookPatienceMillis).pipe(Effect.withClock(clock))
  })

  const get = carryOut((at) => TokenState.decide(state, at), valid)

  /** What a call reveals about a token. What the supply reports about it has the trace of the call. */
  const revealed = (change: (report: (work: Effect.Effect<void>) => void) => void): Effect.Effect<void> =>
    Effect.map(
      Effect.serviceOption(Tracer.ParentSpan),
      (call) =>
        change((work) =>
          void run(Option.isSome(call) ? Effect.provideService(work, Tracer.ParentSpan, call.value) : work)
        )
    )

  /** The API rejected a token. Its replacement begins, unless the last one is too recent. */
  const reject = (token: AccessToken): Effect.Effect<void> =>
    revealed((report) => {
      const before = state
      const at = now()
      state = TokenState.rejected(state, token, at)
      if (state === before) return
      report(announcements.rejected(before, state))
      if (state.held?.rejectedAt !== undefined && TokenState.remembered(state, at) === undefined) begin(at)
    })

  return {
    environment: endpoint.environment,
    requestedScopes,
    get,
    invalidate: reject,
    replace: (token: AccessToken) =>
      Effect.zipRight(
        reject(token),
        carryOut(
          (at) => TokenState.decideReplacement(state, token, at),
          () => TokenState.otherToken(state, token, now())
        ).pipe(
          // one flight keeps the deadline, but a second flight after it would exceed the deadline
          within(limit, () => timedOut),
          Effect.withClock(clock)
        )
      ),
    refresh: Effect.suspend(() => {
      const at = now()
      if (!isUnderWay(at)) {
        if (refreshedAt !== undefined && !Instant.reached(at, Instant.later(refreshedAt, refreshMillis))) return get
        refreshedAt = at
        state = TokenState.forgotten(state)
        begin(at, { _tag: "Refresh", token: state.held?.token })
      }
      return Effect.flatMap(landing, (ended) => state.isClosed ? get : ended?.failure ?? get)
    }),
    status: Effect.map(sharing?.status ?? Effect.succeedNone, (store): TokenStatus => ({
      environment: where.environment,
      tokenEndpoint: endpoint.url,
      version: Option.fromNullable(endpoint.version),
      requestedScopes,
      missingScopes: state.held?.token.missing(requestedScopes) ?? [],
      ...TokenState.status(state, now()),
      callersWaiting: flight?.waiters.size ?? 0,
      tokensServed,
      eventsLost: announcements.eventsLost() + (sharing?.events?.lost() ?? 0),
      store
    })),
    events: sharing?.events === undefined
      ? announcements.events
      : Stream.merge(announcements.events, sharing.events.stream),
    reports: {
      isUnproven: (token: AccessToken) => TokenState.unproven(state) === token,
      accepted: (token: AccessToken) =>
        revealed((report) => {
          const { rejections } = state
          state = TokenState.accepted(state, token)
          if (rejections !== state.rejections) report(announcements.accepted(rejections))
        }),
      rejectionStands: reject,
      scopeMissing: (scope: AccessScope): Effect.Effect<DateTime.Utc> =>
        Effect.sync(() => {
          const at = now()
          const token = state.held?.token
          const nextTryAt = TokenState.nextTryForScope(state, at)
          if (token !== undefined && !token.covers(scope) && Instant.reached(at, nextTryAt)) {
            begin(at, { _tag: "Insufficient", token, scope })
            return Instant.wallTime(Instant.later(at, TokenState.scopeMillis))
          }
          return Instant.wallTime(nextTryAt)
        })
    }
  }
})
