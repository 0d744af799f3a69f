import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Tracer from "effect/Tracer"
import type { AccessScope } from "../AccessScope.ts"
import type { AccessToken } from "../AccessToken.ts"
import type * as TokenEndpoint from "../TokenEndpoint.ts"
import { InvalidClient, InvalidResponse, ServerError, type TokenError, TransportError } from "../TokenError.ts"
import type { RequestReason } from "../TokenEvent.ts"
import type { TokenStatus } from "../TokenStatus.ts"
import * as Instant from "./instant.ts"
import * as Announcements from "./announcements.ts"
import { inOwnContext } from "./asyncContext.ts"
import { isolated } from "./isolated.ts"
import { longestPauseAfter } from "./pauses.ts"
import { shownClientId } from "./printable.ts"
import * as TokenState from "./tokenState.ts"
import { within } from "./within.ts"

// The supply: its callers, at most one token request at a time with its retries, and its status. `tokenState` decides what happens.

type Token = Effect.Effect<AccessToken, TokenError>

/** What callers without a token get when the token request that they have waited for has failed. */
type Failure = Exit.Exit<never, TokenError> | undefined

/** Callers that wait for one event. A Set, so that each interrupted caller leaves in constant time. */
class Waiters {
  readonly #callers = new Set<(event: Effect.Effect<Failure>) => void>()
  #outcome: Effect.Effect<Failure> | undefined
  readonly wait = Effect.async<Failure>((resume) => {
    if (this.#outcome !== undefined) return resume(this.#outcome)
    this.#callers.add(resume)
    return Effect.sync(() => void this.#callers.delete(resume))
  })

  get size(): number {
    return this.#callers.size
  }

  done(failure?: Failure): void {
    this.#outcome = Effect.succeed(failure)
    for (const resume of this.#callers) resume(this.#outcome)
    this.#callers.clear()
  }
}

/** A token request with its retries, which all waiting callers share. */
interface Flight {
  readonly startedAt: Instant.Instant
  readonly waiters: Waiters
  /** Why a token is requested. A refresh that joins the flight changes what its token replaces. */
  reason: RequestReason
  /** It counts as a forced renewal. */
  isForced: boolean
}

/** A token endpoint keeps its own deadline. If an endpoint does not, the supply stops waiting this much later. */
const graceMillis = 1_000

/**
 * The minimum time between two requests of `refresh`.
 * @limit time
 */
export const refreshMillis = 1_000

/** The pause between two looks for a token elsewhere. It differs, so that processes do not look at the same time. */
const lookMillis = { from: 750, to: 1_250 }

/** A caller waits for a look for at most this long, before it gets the remembered failure. */
const lookPatienceMillis = 600

/** A timeout and a certificate need different people, so the reason of a TransportError is its type. */
const errorType = (error: TokenError): string => error._tag === "TransportError" ? error.reason : error._tag

/** A copy of the failure with what only a supply knows: when the next request may be sent. */
export const amend = (error: TokenError, known: { readonly nextTryAt: DateTime.Utc | undefined }): TokenError => {
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

/**
 * The minimum time between the starts of two renewals that rejected tokens force, if the first succeeds.
 * @limit time
 */
export const forcedRenewalPause = 30_000

/** Only tests change it. */
export class ForcedRenewalMillis
  extends Context.Reference<ForcedRenewalMillis>()("@credit-data/core/ForcedRenewalMillis", {
    defaultValue: (): number => forcedRenewalPause
  })
{}

export interface Options {
  readonly renewalWindow: { readonly from: number; readonly to: number }
}

/** The supply: what its callers get, from one state and at most one flight. */
export const make = Effect.fnUntraced(function*(
  endpoint: TokenEndpoint.Service,
  options: Options
) {
  const clock = yield* Effect.clock
  const now = () => Instant.now(clock)
  const { requestedScopes, sharing } = endpoint
  const { clientId } = endpoint
  const where = {
    environment: endpoint.environment.name,
    ...(clientId !== undefined && { clientId }),
    tokenEndpoint: endpoint.url
  }
  const announcements = yield* Announcements.make(endpoint, clock)
  const forcedRenewalMillis = yield* ForcedRenewalMillis
  const deadlineMillis = Duration.toMillis(endpoint.deadline)
  const limit = Duration.sum(sharing?.timeLimit ?? endpoint.deadline, Duration.millis(graceMillis))
  const limitMillis = Duration.toMillis(limit)
  const timedOut = new TransportError({ ...where, reason: "Timeout", deadline: endpoint.deadline })
  const spanAttributes = {
    "credit_data.environment": where.environment,
    ...(clientId !== undefined && { "credit_data.client_id": shownClientId(clientId) }),
    "http.request.method": "POST",
    "server.address": URL.canParse(endpoint.url) ? new URL(endpoint.url).hostname : endpoint.url
  }

  let state = TokenState.none
  let flight: Flight | undefined
  let refreshedAt: Instant.Instant | undefined
  let tokensServed = 0

  const fork = yield* FiberSet.makeRuntime<never, void, never>()
  /**
   * Work of the supply. It belongs to no caller's trace, has nothing else of the use that built the layer, such as its options of `fetch`, and
   * runs even if the layer was built in an uninterruptible region.
   */
  const run = (work: Effect.Effect<void>): Fiber.RuntimeFiber<void> =>
    fork(isolated(Effect.mapInputContext(work, Context.omit(Tracer.ParentSpan))).pipe(Effect.interruptible))
  // runs before the fibers are interrupted, so nothing begins while they end
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      state = TokenState.closed(new TransportError({ ...where, reason: "Closed" }), now())
      flight?.waiters.done()
    })
  )

  const drawDueShare = Random.nextRange(options.renewalWindow.from, options.renewalWindow.to)

  /** Takes a token and reports it, unless it has expired already. `replaces` decides which tokens remain. Without it, the token was found. */
  const take = (token: AccessToken, reason: RequestReason, sentAt: Instant.Instant, replaces?: () => RequestReason) =>
    Effect.flatMap(drawDueShare, (dueShare): Effect.Effect<void, TokenError> => {
      const before = state
      const at = now()
      const next = TokenState.obtained(before, token, {
        at,
        dueShare,
        isFound: replaces === undefined,
        reason: replaces?.() ?? reason,
        requestedScopes,
        sentAt
      })
      if (next.isClosed || next.newer === undefined) return Effect.interrupt
      if (Instant.reached(at, next.newer.expiresAt)) {
        return Effect.fail(new InvalidResponse({ ...where, endpointStatus: 200, rule: "Expired" }))
      }
      state = next
      return announcements.obtained(reason, sentAt, next.newer, before)
    })

  /** The requests of a flight: the first one, and its retries until the deadline. Returns the failure that is not retried. */
  const fly = Effect.fnUntraced(function*(own: Flight): Effect.fn.Return<Failure> {
    const deadlineAt = Instant.later(own.startedAt, deadlineMillis)
    let limitAt = Instant.later(own.startedAt, limitMillis)
    let retried: TokenError | undefined
    for (let retriesLeft = TokenState.retries;; retriesLeft--) {
      const { reason } = own
      const sentAt = now()
      const random = yield* Random.next
      const ended: { failure?: TokenError; pause?: number } = {}
      yield* Effect.gen(function*() {
        yield* announcements.requested(reason)
        const token = yield* Effect.suspend(() => endpoint.requestToken(reason)).pipe(
          within(Instant.millisBetween(sentAt, limitAt), () => retried ?? timedOut)
        )
        yield* take(token, reason, sentAt, () => own.reason)
      }).pipe(
        Effect.tapError((error) => Effect.annotateCurrentSpan("error.type", errorType(error))),
        Effect.tapError((error) => {
          const at = now()
          state = TokenState.failed(state, at)
          const previous = state.failure?.error
          const next = TokenState.afterFailure(state, { error, at, deadlineAt, random, retriesLeft })
          const nextTryAt = Instant.later(at, next.pause)
          const known = amend(error, { nextTryAt: Instant.wallTime(nextTryAt) })
          const reported = announcements.failed(reason, sentAt, known)
          retried = error
          ended.failure = known
          if (next.isRetried) {
            ended.pause = next.pause
            return reported
          }
          state = TokenState.gaveUp(state, { error: known, nextTryAt, isForced: own.isForced })
          return Effect.zipRight(reported, announcements.gaveUp(known, TokenState.inUse(state, at), previous))
        }),
        Effect.withSpan("TokenEndpoint.requestToken", {
          kind: "client",
          captureStackTrace: false,
          attributes: { ...spanAttributes, "credit_data.token.reason": reason._tag }
        }),
        Effect.ignore
      )
      if (ended.pause === undefined) return ended.failure === undefined ? undefined : Exit.fail(ended.failure)
      yield* Effect.sleep(ended.pause)
      limitAt = deadlineAt
    }
  })

  /** Begins a flight unless another is under way, and returns it. The check and the assignment are one synchronous step. */
  const begin = (at: Instant.Instant, reason = TokenState.reason(state, at), isForced = false): Flight | undefined => {
    if (state.isClosed) return undefined
    const own = flight ?? { startedAt: at, waiters: new Waiters(), reason, isForced }
    if (isForced) {
      own.isForced = true
      state = TokenState.forced(state, own.startedAt)
    }
    if (flight !== undefined) return flight
    const land = (failure: Failure): void => {
      flight = undefined
      own.waiters.done(failure)
    }
    // before the fork, because the first steps of a flight may request a token
    flight = own
    run(Effect.matchCauseEffect(fly(own), {
      onSuccess: (failure) => Effect.sync(() => land(failure)),
      // the program's endpoint, logger or tracer has a defect, which must not lift the bound on token requests
      onFailure: (cause) => {
        const defect = Cause.squash(cause)
        const outcome = Exit.die(defect)
        const remember = Effect.sync(() => {
          const at = now()
          if (TokenState.remembered(state, at) !== undefined) return
          const nextTryAt = Instant.later(at, longestPauseAfter())
          const error = new TransportError({ ...where, reason: "Other", nextTryAt: Instant.wallTime(nextTryAt) })
          state = TokenState.gaveUp(TokenState.failed(state, at), { error, outcome, nextTryAt, isForced: own.isForced })
        })
        return remember.pipe(
          Effect.ensuring(Effect.sync(() => land(outcome))),
          Effect.zipRight(announcements.died(defect))
        )
      }
    }))
    return own
  }

  const landing = (own: Flight | undefined): Effect.Effect<Failure> => own?.waiters.wait ?? Effect.succeed(undefined)

  /** Waits, but only for this long, by the clock of the supply. */
  const patiently = (wait: Effect.Effect<Failure>, millis?: number): Effect.Effect<Failure> =>
    inOwnContext(
      millis === undefined ? wait : Effect.timeoutOption(Effect.interruptible(wait), millis).pipe(
        Effect.map(Option.getOrUndefined),
        Effect.withClock(clock)
      )
    )

  const serve = (token: Exit.Exit<AccessToken, TokenError>): Token => {
    tokensServed++
    return token
  }

  /** The token for a caller that has tried these tokens. */
  const next = (...tried: ReadonlyArray<AccessToken>): Token => {
    /** The token that is in use after a wait. If the renewal failed, this is the token that is still valid. */
    const usableOr = (otherwise: () => Token): Token => {
      const found = TokenState.inUse(state, now(), tried)
      return found === undefined ? otherwise() : serve(found.use.token)
    }
    const once: Token = Effect.suspend(() => {
      const at = now()
      const decision = TokenState.decide(state, at, { tried, isRequested: flight !== undefined })
      switch (decision._tag) {
        case "Use":
          return serve(decision.token)
        case "UseAndRenew":
          begin(at)
          return serve(decision.token)
        case "Wait":
          return Effect.flatMap(
            patiently(landing(begin(at)), decision.patience),
            (failure) => usableOr(() => failure ?? once)
          )
        case "Settle": {
          const { outcome } = decision
          const settle = () => Exit.isSuccess(outcome) ? serve(outcome) : outcome
          return look === undefined ? settle() : Effect.zipRight(look, Effect.suspend(() => usableOr(settle)))
        }
      }
    })
    return once
  }

  let lookedUntil: Instant.Instant | undefined
  let looking: Waiters | undefined
  const find = sharing?.find
  /** Looks for a token that exists elsewhere when none may be requested. Sends nothing to the token endpoint. */
  const look = find === undefined ? undefined : Effect.suspend(() => {
    const at = now()
    // a flight looks by itself
    if (!state.isClosed && flight === undefined && (lookedUntil === undefined || Instant.reached(at, lookedUntil))) {
      const own = new Waiters()
      looking = own
      lookedUntil = Instant.later(at, lookMillis.to)
      run(
        Effect.gen(function*() {
          lookedUntil = Instant.later(at, yield* Random.nextRange(lookMillis.from, lookMillis.to))
          const { failure } = state
          const rejected = TokenState.allRejected(state, at)
          const reason: RequestReason = rejected === undefined
            ? TokenState.reason(state, at)
            : { _tag: "Rejected", token: rejected }
          const found = yield* Effect.suspend(() => find(reason, failure?.error))
          if (Option.isNone(found) || state.failure !== failure || flight !== undefined) return
          // the pause is one for all processes, or each of them would request a token in it
          if (rejected !== undefined) state = TokenState.forced(state, at)
          yield* take(found.value, reason, at)
        }).pipe(
          Effect.ignore,
          Effect.ensuring(Effect.sync(() => own.done()))
        )
      )
    }
    return looking === undefined ? Effect.void : Effect.asVoid(patiently(looking.wait, lookPatienceMillis))
  })

  const get = next()

  /** The API rejected a token. If it rejected every token that is held, a renewal is forced. */
  const invalidate = (token: AccessToken): Effect.Effect<void> =>
    Effect.map(Effect.serviceOption(Tracer.ParentSpan), (call) => {
      const at = now()
      const before = state
      state = TokenState.invalidated(state, token, at)
      if (state === before) return
      // what the supply reports about a call has its trace
      const report = (work: Effect.Effect<void>) =>
        run(Option.isSome(call) ? Effect.provideService(work, Tracer.ParentSpan, call.value) : work)
      if (!TokenState.isRejected(before, token, at)) report(announcements.invalidated)
      const replaced = TokenState.allRejected(state, at)
      if (replaced === undefined) return
      if (TokenState.remembered(state, at) !== undefined || !TokenState.mayForce(state, at, forcedRenewalMillis)) {
        if (look !== undefined) run(look)
        return
      }
      if (flight === undefined) report(announcements.forced(at))
      begin(at, { _tag: "Rejected", token: replaced }, true)
    })

  return {
    environment: endpoint.environment,
    clientId,
    requestedScopes,
    get,
    invalidate,
    replace: (rejected: AccessToken, ...others: ReadonlyArray<AccessToken>) =>
      Effect.zipRight(
        invalidate(rejected),
        next(rejected, ...others).pipe(
          // one flight keeps the deadline, but a second flight after it would exceed the deadline
          within(limit, () => timedOut),
          Effect.withClock(clock),
          inOwnContext
        )
      ),
    refresh: Effect.suspend(() => {
      const at = now()
      const joined = flight
      const reason: RequestReason = { _tag: "Refresh", token: TokenState.inUse(state, at)?.token }
      if (joined !== undefined) joined.reason = reason
      else {
        if (refreshedAt !== undefined && !Instant.reached(at, Instant.later(refreshedAt, refreshMillis))) return get
        refreshedAt = at
        state = TokenState.forgotten(state)
      }
      return Effect.flatMap(patiently(landing(begin(at, reason))), (failure) => state.isClosed ? get : failure ?? get)
    }),
    status: Effect.map(
      sharing === undefined ? Effect.succeedNone : Effect.asSome(sharing.status),
      (store): TokenStatus => ({
        environment: where.environment,
        clientId: Option.fromNullable(clientId),
        tokenEndpoint: endpoint.url,
        version: Option.fromNullable(endpoint.version),
        requestedScopes,
        ...TokenState.status(state, now(), { forcedRenewalMillis, requestedScopes }),
        callersWaiting: flight?.waiters.size ?? 0,
        tokensServed,
        store
      })
    ),
    events: announcements.events,
    scopeMissing: (scope: AccessScope): Effect.Effect<DateTime.Utc> =>
      Effect.sync(() => {
        const at = now()
        const token = state.newer?.token
        const nextTryAt = TokenState.nextTryForScope(state, at)
        if (token !== undefined && !token.covers(scope) && Instant.reached(at, nextTryAt)) {
          begin(at, { _tag: "Insufficient", token, scope })
          return Instant.wallTime(Instant.later(at, TokenState.scopeMillis))
        }
        return Instant.wallTime(nextTryAt)
      })
  }
})
