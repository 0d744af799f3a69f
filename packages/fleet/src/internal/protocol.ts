import type { AccessToken } from "@credit-data/core/AccessToken"
import { Instant, within } from "@credit-data/core/Internal"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import { type TokenError, TransportError } from "@credit-data/core/TokenError"
import type { RequestReason } from "@credit-data/core/TokenEvent"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import type * as ConfigError from "effect/ConfigError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { StoreError } from "../StoreError.ts"
import type * as TokenStore from "../TokenStore.ts"
import type { Access, Alone, Session } from "./access.ts"
import * as Envelope from "./envelope.ts"

/** How long a lease lasts. It is short, because the others wait this long for a process that was killed. */
const leaseMillis = 2_000

/** How often a lease is prolonged while the token request runs. */
const renewalMillis = 500

/** A token endpoint keeps its own deadline. A custom endpoint that does not is abandoned this much later. */
const graceMillis = 1_000

/**
 * The pauses in milliseconds between two looks at the store, while another process has the lease: a random time, plus four
 * times the duration of a look, up to `atMost`. Hundreds of processes keep the store and their machine busy if they look too
 * often.
 */
const lookPauseMillis = { from: 20, to: 200, atMost: 1_000 }

interface Options {
  readonly endpoint: TokenEndpoint.Service
  /** The entry of the endpoint's credentials, as they are now. */
  readonly entry: Effect.Effect<Envelope.Entry, ConfigError.ConfigError>
  /** Reads the credentials again. */
  readonly reread: Effect.Effect<unknown>
  readonly store: TokenStore.Service
  readonly access: Access
  readonly clock: Clock.Clock
}

/** What an entry means to this process. */
interface Found {
  /** The token that this process may use instead of the one that it replaces. */
  readonly token?: AccessToken | undefined
  readonly failure?: Envelope.SharedFailure | undefined
  /** The stored token, which remains next to a failure. */
  readonly stored?: Envelope.Content["token"]
}

const fenceIn = ({ value }: TokenStore.Look): number =>
  Option.match(value, { onNone: () => 0, onSome: ({ fence }) => fence })

/**
 * The token requests of a process whose fleet shares a store. One process of the fleet at a time has the lease and sends a token
 * request. The others wait for what it publishes. When the store is faulty, each process requests its own tokens.
 */
export const make = ({ access, clock, endpoint, entry: readEntry, reread, store }: Options) => {
  const where = { environment: endpoint.environment.name, tokenEndpoint: endpoint.url }
  const millis = () => Instant.monotonicMillis(clock)
  const deadlineMillis = Duration.toMillis(endpoint.deadline)

  /** The fences of the tokens that this process has taken or published. */
  const fences = new WeakMap<AccessToken, number>()

  /** The last token that this process took or obtained. */
  let latest: { readonly token: AccessToken; readonly endsAt: Instant.Instant } | undefined
  const remember = (token: AccessToken) => {
    latest = { token, endsAt: Instant.atWallTime(Instant.now(clock), DateTime.toEpochMillis(token.expiresAt)) }
  }

  /** Returns whether a stored token may take the place of the token that is to be replaced. It must be a newer one. */
  const mayReplace = (stored: AccessToken, fence: number, reason: RequestReason): boolean => {
    const isSame = (token: AccessToken) => Equal.equals(stored.secret, token.secret)
    // it has expired here, whatever another clock shows
    if (latest !== undefined && isSame(latest.token) && Instant.reached(Instant.now(clock), latest.endsAt)) return false
    // reads the credentials again, and so sends a request
    if (reason._tag === "Refresh") return false
    if (reason._tag === "Nothing") return true
    if (isSame(reason.token) || (reason._tag === "Insufficient" && !stored.covers(reason.scope))) return false
    const replaced = fences.get(reason.token)
    return replaced === undefined
      ? DateTime.greaterThan(stored.requestedAt, reason.token.requestedAt)
      : fence > replaced
  }

  /** Judges what the store contained at this time of this process's clock. */
  const judge = Effect.fnUntraced(function*(
    entry: Envelope.Entry,
    look: TokenStore.Look,
    reason: RequestReason,
    wall: DateTime.Utc
  ): Effect.fn.Return<Found> {
    const content = Envelope.opened(entry, look)
    if (Option.isNone(content)) return yield* Effect.as(Option.isSome(look.value) ? access.unusable : Effect.void, {})
    const readAt = { store: look.now, wall }
    const found = Envelope.tokenOf(content.value, readAt)
    if (found !== undefined) {
      const { skewMillis, token } = found
      yield* access.skewed(skewMillis)
      if (mayReplace(token, fenceIn(look), reason)) {
        fences.set(token, fenceIn(look))
        remember(token)
        access.took(token)
        return { token }
      }
    }
    return {
      stored: found === undefined ? undefined : content.value.token,
      failure: reason._tag === "Refresh" ? undefined : Envelope.failureOf(content.value, readAt, where)?.error
    }
  })

  const currentEntry = (session: Session) => Effect.catchAll(readEntry, () => session.fail("Sealing"))

  const request = (reason: RequestReason) =>
    within(
      Duration.millis(deadlineMillis + graceMillis),
      (): TokenError => new TransportError({ ...where, reason: "Timeout", deadline: endpoint.deadline })
    )(Effect.suspend(() => endpoint.requestToken(reason)))

  /** Waits before the next look at the store, which another process is expected to change. */
  const pause = (lookedAt: number) =>
    Effect.flatMap(
      Random.nextRange(lookPauseMillis.from, lookPauseMillis.to),
      (pause) => Effect.sleep(Duration.millis(pause + Math.min(lookPauseMillis.atMost, 4 * (millis() - lookedAt))))
    )

  /** A token of the fleet: one from the store, or a new one, which is published. */
  const shared = Effect.fnUntraced(function*(
    session: Session,
    reason: RequestReason
  ): Effect.fn.Return<AccessToken, Alone | TokenError> {
    // no caller waits for the renewal of a valid token
    const run = reason._tag === "Due" ? session.unhurried : session.withinBudget
    const entry = yield* currentEntry(session)
    const { name } = entry
    const owner = crypto.randomUUID()
    const take = (seen: number) => store.takeLease(name, { owner, seen, duration: Duration.millis(leaseMillis) })
    let isHeld = false

    const put = Effect.fnUntraced(function*(fence: number, content: Envelope.Content) {
      const value = { bytes: Envelope.sealed(entry, fence, content), fence, expiresAt: Envelope.endOf(content), owner }
      const isPublished = yield* run(store.publish(name, value))
      isHeld = false
      if (isPublished) yield* access.published(content.failure === undefined ? "Token" : "Failure")
      return isPublished
    })

    /** The token request of the process that has the lease, after this look. */
    const requestAndPublish = Effect.fnUntraced(function*(
      look: TokenStore.Look,
      stored: Found["stored"],
      isFirst: boolean
    ): Effect.fn.Return<AccessToken, TokenError> {
      const lookedAt = millis()
      const storeNow = () => look.now + millis() - lookedAt
      const sentAt = storeNow()
      const fence = Math.max(Math.floor(sentAt), fenceIn(look) + 1)
      // the network of this process may be blocked, so another one may try after half of the time, once
      const holdsFor = isFirst ? deadlineMillis / 2 - leaseMillis : deadlineMillis
      const holds = () => millis() - lookedAt <= holdsFor
      const elsewhere = Effect.gen(function*() {
        let seen = fenceIn(look)
        while (true) {
          yield* Effect.sleep(Duration.millis(renewalMillis))
          const wall = yield* DateTime.now
          const operation: Effect.Effect<TokenStore.Look, StoreError> = holds() ? take(seen) : store.read(name)
          const later = yield* Effect.option(session.unhurried(operation))
          if (Option.isNone(later)) continue
          seen = Math.max(seen, fenceIn(later.value))
          const { token } = yield* judge(entry, later.value, reason, wall)
          if (token !== undefined) return token
        }
      })
      const outcome = yield* Effect.exit(Effect.raceFirst(request(reason), elsewhere))
      if (Exit.isSuccess(outcome) && !access.wasTaken(outcome.value)) {
        const token = outcome.value
        remember(token)
        // calculated once, because clocks can be set, and this process can be stopped, before the token is published
        const left = DateTime.toEpochMillis(token.expiresAt) - clock.unsafeCurrentTimeMillis()
        const endsAt = Math.min(sentAt + Envelope.lifetimeOf(token), storeNow() + left)
        // a fault of the store changes nothing about the outcome
        yield* Effect.ignore(Effect.gen(function*() {
          // the request has read other credentials, whose entry this lease does not cover
          if ((yield* currentEntry(session)).name !== name) return
          if (yield* put(fence, Envelope.contentOfToken(token, endsAt))) fences.set(token, fence)
        }))
      }
      if (Exit.isFailure(outcome) && holds()) {
        const failure = Option.filter(Cause.failureOption(outcome.cause), Envelope.isShared)
        if (Option.isSome(failure)) {
          yield* Effect.ignore(put(fence, Envelope.contentOfFailure(failure.value, storeNow(), stored)))
        }
      }
      return yield* outcome
    })

    return yield* Effect.gen(function*() {
      const waitEndsAt = millis() + (reason._tag === "Refresh" ? 0 : deadlineMillis)
      let seen = "token" in reason && reason.token !== undefined ? fences.get(reason.token) ?? 0 : 0
      let isFirst = true
      while (true) {
        const lookedAt = millis()
        const wall = yield* DateTime.now
        // the time in which the process waits for another one is not the store's
        const { isTaken, ...look } = yield* (isFirst ? run : session.unhurried)(take(seen))
        isHeld = isTaken
        const { failure, stored, token } = yield* judge(entry, look, reason, wall)
        if (token !== undefined) return token
        if (failure !== undefined) {
          access.tookFailure()
          return yield* failure
        }
        if (isTaken) return yield* requestAndPublish(look, stored, isFirst)
        if (fenceIn(look) > seen) {
          // the value cannot be used, so the process tries to take the lease
          seen = fenceIn(look)
          continue
        }
        isFirst = false
        if (millis() >= waitEndsAt) return yield* request(reason)
        yield* pause(lookedAt)
      }
    }).pipe(
      Effect.ensuring(Effect.suspend(() => isHeld ? Effect.ignore(run(store.releaseLease(name, owner))) : Effect.void))
    )
  })

  return {
    requestToken: (reason: RequestReason): Effect.Effect<AccessToken, TokenError> =>
      Effect.flatMap(access.session, (session) => Effect.ensuring(shared(session, reason), session.end)).pipe(
        Effect.catchTag("Alone", () => request(reason))
      ),
    /** The token that is in the store now. */
    find: (reason: RequestReason, failure: TokenError): Effect.Effect<Option.Option<AccessToken>> =>
      Effect.flatMap(access.session, (session) =>
        Effect.gen(function*() {
          // the next secret has another entry
          if (failure._tag === "InvalidClient") yield* reread
          const entry = yield* currentEntry(session)
          const wall = yield* DateTime.now
          const look = yield* session.withinBudget(store.read(entry.name))
          return Option.fromNullable((yield* judge(entry, look, reason, wall)).token)
        }).pipe(Effect.ensuring(session.end))).pipe(Effect.catchTag("Alone", () => Effect.succeedNone))
  }
}
