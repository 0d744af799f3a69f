import type { AccessToken } from "@credit-data/core/AccessToken"
import { Instant } from "@credit-data/core/Internal"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import type { TokenError } from "@credit-data/core/TokenError"
import type { RequestReason } from "@credit-data/core/TokenEvent"
import type * as ConfigError from "effect/ConfigError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as StoreEngine from "../StoreEngine.ts"
import * as Access from "./access.ts"
import * as Envelope from "./envelope.ts"
import { fenceIn } from "./fence.ts"

// What a process does with the shared store: it takes the token from there, or the lease to request one.

/** How long a lease lasts. It is short, because the others wait this long for a process that was killed. */
const leaseMillis = 2_000

/** How often a lease is prolonged while the token request runs. */
const renewalMillis = 500

/**
 * The pauses in milliseconds between two looks at the store, while another process has the lease: a random time, plus four
 * times the duration of a look, up to `atMost`. Hundreds of processes keep the store and their machine busy if they look too
 * often.
 */
const lookPauseMillis = { from: 20, to: 200, atMost: 1_000 }

/** An endpoint with its credentials, its entry in the store for those that it uses when the effect is run, and the store. */
export interface Parts {
  readonly endpoint: TokenEndpoint.Service
  readonly credentials: TokenEndpoint.Credentials
  readonly entry: Effect.Effect<Envelope.Entry, ConfigError.ConfigError>
  readonly store: StoreEngine.Service
}

/** What was read from the store, and what it means to this process. */
interface Found<A extends StoreEngine.Look> {
  readonly look: A
  /** The token that this process may use instead of the one that it replaces. */
  readonly token?: AccessToken | undefined
  readonly failure?: Envelope.SharedFailure | undefined
  /** The stored token, which remains next to a failure. */
  readonly stored?: Envelope.Content["token"]
}

/**
 * The endpoint of a process whose fleet shares a store. One process of the fleet at a time has the lease and sends a token
 * request. The others wait for what it publishes. When the store is faulty, each process requests its own tokens.
 */
export const decorated = Effect.fnUntraced(function*({ credentials, endpoint, entry: readEntry, store }: Parts) {
  const clock = yield* Effect.clock
  const access = yield* Access.make(clock, endpoint)
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
    // a newer token shows what the server grants now, even if it lacks the missing scope too
    if (isSame(reason.token)) return false
    const replaced = fences.get(reason.token)
    return replaced === undefined
      ? DateTime.greaterThan(stored.requestedAt, reason.token.requestedAt)
      : fence > replaced
  }

  /** Reads an entry, and judges it by the clock of this process before it was read. */
  const judged = Effect.fnUntraced(function*<A extends StoreEngine.Look, E>(
    entry: Envelope.Entry,
    reason: RequestReason,
    operation: Effect.Effect<A, E>
  ): Effect.fn.Return<Found<A>, E> {
    const wall = yield* DateTime.now
    const look = yield* operation
    const content = Envelope.opened(entry, look)
    if (Option.isNone(content)) {
      if (Option.isSome(look.value)) yield* access.unusable
      return { look }
    }
    const token = Envelope.tokenOf(content.value, look.now, wall)
    if (token !== undefined && mayReplace(token, fenceIn(look), reason)) {
      fences.set(token, fenceIn(look))
      remember(token)
      access.took(token)
      return { look, token }
    }
    const failure = Envelope.failureOf(content.value, look.now, wall)?.error
    return { look, failure: reason._tag === "Refresh" ? undefined : failure, stored: content.value.token }
  })

  const currentEntry = (session: Access.Session) => Effect.catchAll(readEntry, () => session.cannotSeal)

  /** Waits before the next look at the store, which another process is expected to change. */
  const pause = (lookedAt: number) =>
    Effect.flatMap(
      Random.nextRange(lookPauseMillis.from, lookPauseMillis.to),
      (pause) => Effect.sleep(Duration.millis(pause + Math.min(lookPauseMillis.atMost, 4 * (millis() - lookedAt))))
    )

  /** A token of the fleet: one from the store, or a new one, which is published. */
  const shared = Effect.fnUntraced(function*(
    session: Access.Session,
    reason: RequestReason
  ): Effect.fn.Return<AccessToken, Access.WithoutStore | TokenError> {
    // no caller waits for the renewal of a valid token
    const run = reason._tag === "Due" ? session.unhurried : session.withinBudget
    const entry = yield* currentEntry(session)
    const { name } = entry
    const owner = crypto.randomUUID()
    const take = (seen: number) =>
      Effect.suspend(() => store.takeLease(name, { owner, seen, duration: Duration.millis(leaseMillis) }))
    const read = Effect.suspend(() => store.read(name))
    let isHeld = false

    /** The token request of the process that has the lease, after this look. */
    const requestAndPublish = Effect.fnUntraced(function*(
      look: StoreEngine.Look,
      stored: Envelope.Content["token"],
      isFirst: boolean
    ): Effect.fn.Return<AccessToken, TokenError> {
      const lookedAt = millis()
      const storeNow = () => look.now + millis() - lookedAt
      const fence = Math.max(Math.floor(look.now), fenceIn(look) + 1)
      // the network of this process may be blocked, so another one may try after half of the time, once
      const holdsFor = isFirst ? deadlineMillis / 2 - leaseMillis : deadlineMillis
      const holds = () => millis() - lookedAt <= holdsFor

      /** A token that another process has published while this one waits for the endpoint. */
      const elsewhere = Effect.gen(function*() {
        let seen = fenceIn(look)
        while (true) {
          yield* Effect.sleep(Duration.millis(renewalMillis))
          const operation = session.unhurried<StoreEngine.Look>(holds() ? take(seen) : read)
          const found = yield* Effect.option(judged(entry, reason, operation))
          if (Option.isNone(found)) continue
          const { look, token } = found.value
          if (token !== undefined) return token
          seen = Math.max(seen, fenceIn(look))
        }
      })

      // a fault of the store changes nothing about the outcome
      const publish = (content: Envelope.Content, token?: AccessToken) =>
        Effect.ignore(Effect.gen(function*() {
          // the request may have read other credentials, whose entry this lease does not cover
          if ((yield* currentEntry(session)).name !== name) return
          const bytes = Envelope.sealed(entry, fence, content)
          const isPublished = yield* run(
            Effect.suspend(() => store.publish(name, { bytes, fence, expiresAt: Envelope.endOf(content), owner }))
          )
          isHeld = false
          if (!isPublished) return
          if (token !== undefined) fences.set(token, fence)
          access.published()
        }))

      return yield* Effect.raceFirst(endpoint.requestToken(reason), elsewhere).pipe(
        Effect.tap((token) => {
          if (access.wasTaken(token)) return Effect.void
          remember(token)
          // calculated once, because clocks can be set, and this process can be stopped, before the token is published
          const left = DateTime.toEpochMillis(token.expiresAt) - clock.unsafeCurrentTimeMillis()
          const endsAt = Math.min(look.now + Envelope.lifetimeOf(token), storeNow() + left)
          return publish(Envelope.contentOfToken(token, endsAt), token)
        }),
        Effect.tapError((error) =>
          Envelope.isShared(error) && holds()
            ? publish(Envelope.contentOfFailure(error, storeNow(), stored))
            : Effect.void
        )
      )
    })

    return yield* Effect.gen(function*() {
      const waitEndsAt = millis() + (reason._tag === "Refresh" ? 0 : deadlineMillis)
      let seen = "token" in reason && reason.token !== undefined ? fences.get(reason.token) ?? 0 : 0
      let isFirst = true
      while (true) {
        const lookedAt = millis()
        // the time in which the process waits for another one is not the store's
        const taking = (isFirst ? run : session.unhurried)(take(seen))
        const { failure, look, stored, token } = yield* judged(entry, reason, taking)
        isHeld = look.isTaken
        if (token !== undefined) return token
        if (failure !== undefined) {
          access.tookFailure()
          return yield* failure
        }
        if (isHeld) return yield* requestAndPublish(look, stored, isFirst)
        if (fenceIn(look) > seen) {
          // the value cannot be used, so the process tries to take the lease
          seen = fenceIn(look)
          continue
        }
        isFirst = false
        if (millis() >= waitEndsAt) return yield* endpoint.requestToken(reason)
        yield* pause(lookedAt)
      }
    }).pipe(
      Effect.ensuring(
        Effect.suspend(() =>
          isHeld ? Effect.ignore(run(Effect.suspend(() => store.releaseLease(name, owner)))) : Effect.void
        )
      )
    )
  })

  const requestToken = (reason: RequestReason): Effect.Effect<AccessToken, TokenError> =>
    Effect.flatMap(access.session, (session) => Effect.ensuring(shared(session, reason), session.end)).pipe(
      Effect.catchTag("WithoutStore", () => endpoint.requestToken(reason))
    )

  /** The token that is in the store now. */
  const find = (reason: RequestReason, failure: TokenError | undefined): Effect.Effect<Option.Option<AccessToken>> =>
    Effect.flatMap(access.session, (session) =>
      Effect.gen(function*() {
        // the next secret has another entry
        if (failure?._tag === "InvalidClient") yield* credentials.reread
        const entry = yield* currentEntry(session)
        const { token } = yield* judged(
          entry,
          reason,
          session.withinBudget(Effect.suspend(() => store.read(entry.name)))
        )
        return Option.fromNullable(token)
      }).pipe(Effect.ensuring(session.end))).pipe(Effect.catchTag("WithoutStore", () => Effect.succeedNone))

  return {
    ...endpoint,
    requestToken,
    sharing: {
      // the wait for another process, and then a token request of this one
      timeLimit: Duration.times(endpoint.deadline, 2),
      find,
      wasFound: access.wasTaken,
      status: access.status,
      listen: access.listen
    }
  }
})
