import type { AccessToken } from "@credit-data/core/AccessToken"
import type { Replaces } from "@credit-data/core/Replaces"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import type { TokenError } from "@credit-data/core/TokenError"
import { Instant } from "@credit-data/core/Internal"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import type * as ConfigError from "effect/ConfigError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import type * as TokenStore from "../TokenStore.ts"
import * as Background from "./background.ts"
import * as Content from "./content.ts"
import * as Envelope from "./envelope.ts"
import type { Entry } from "./entry.ts"
import * as Fences from "./fences.ts"
import * as Found from "./found.ts"
import * as Lease from "./lease.ts"
import type { Alone, Session, StoreAccess } from "./storeAccess.ts"

/**
 * The pauses in milliseconds between two looks at the store, while another process has the lease: a random time, plus four
 * times the duration of a look, up to `atMost`. Hundreds of processes keep the store and their machine busy if they look too
 * often.
 */
const leasePauseMillis = { from: 20, to: 200, atMost: 1_000 }

interface Options {
  readonly endpoint: TokenEndpoint.Service
  readonly client: TokenEndpoint.Client
  /** The entry of the endpoint's credentials, as they are now. */
  readonly entry: Effect.Effect<Entry, ConfigError.ConfigError>
  readonly store: TokenStore.Service
  readonly access: StoreAccess
  readonly clock: Clock.Clock
}

/**
 * The token requests of a process whose fleet shares a store. One process of the fleet at a time has the lease and sends a token
 * request. The others wait for what it publishes. When the store is faulty, each process requests its own tokens.
 */
export const make = Effect.fnUntraced(function*({ access, client, clock, endpoint, entry: readEntry, store }: Options) {
  const background = yield* Background.make
  const seen = Found.make({ access, clock, endpoint })
  const millis = () => Instant.monotonicMillis(clock)
  const currentEntry = (session: Session) => Effect.catchAll(readEntry, () => session.fail("Sealing"))
  const takeLease = (session: Session, run: Session["withinBudget"], entry: Entry, seenFence: number) =>
    Lease.take({ access, millis, store }, session, run, entry, { above: seen.highestFence(entry), seen: seenFence })

  const put = Effect.fnUntraced(function*(
    session: Session,
    entry: Entry,
    place: Envelope.Place,
    content: { readonly text: string; readonly expiresAt: number }
  ) {
    const { fence, slot } = place
    const bytes = yield* Envelope.seal(entry, place, content.text)
    const isPublished = yield* session.unhurried(
      store.publish(entry.name, slot, { bytes, fence, expiresAt: content.expiresAt })
    )
    if (!isPublished) return
    seen.published(entry.name, place)
    yield* access.published(slot)
  })

  /** Publishes a token that ends at this time of the store's clock. */
  const publishToken = Effect.fnUntraced(
    function*(session: Session, entry: Entry, fence: number, token: AccessToken, expiresAt: number) {
      const text = Content.encodeToken(token)
      // the token request may have read the credentials again
      const next = yield* currentEntry(session)
      if (next.name === entry.name) return yield* put(session, entry, { slot: "Token", fence }, { text, expiresAt })
      yield* put(session, entry, { slot: "Failure", fence }, { text: Content.encodeRotated(token), expiresAt })
      const { lease } = yield* takeLease(session, session.unhurried, next, seen.highestFence(next))
      if (Option.isNone(lease)) return
      seen.remember(next, lease.value.fence, token)
      yield* put(session, next, { slot: "Token", fence: lease.value.fence }, { text, expiresAt })
    },
    Effect.scoped
  )

  const publishFailure = Effect.fnUntraced(
    function*(session: Session, entry: Entry, held: Lease.Held, failure: Content.SharedFailure) {
      const expiresAt = held.now() + Content.lifetimeOfFailure(failure)
      const text = Content.encodeFailure(failure, yield* DateTime.now)
      yield* put(session, entry, { slot: "Failure", fence: held.fence }, { text, expiresAt })
    }
  )

  /** The token request of the process that has the lease. Its outcome is published when the lease is given back. */
  const request = Effect.fnUntraced(function*(
    session: Session,
    entry: Entry,
    held: Lease.Held,
    { isRotated, replaces }: { readonly isRotated: boolean; readonly replaces: Replaces }
  ): Effect.fn.Return<AccessToken, TokenError, Scope.Scope> {
    // a fault of the store changes nothing about the outcome
    const publish = (effect: Effect.Effect<void, Alone>) =>
      Effect.addFinalizer(() => Effect.ignore(Effect.interruptible(effect)))
    const sentAt = held.now()
    const outcome = yield* Effect.exit(endpoint.requestToken(replaces))
    if (Exit.isSuccess(outcome)) {
      const token = outcome.value
      // calculated once, because clocks can be set, and this process can be stopped, before the token is published
      const left = DateTime.toEpochMillis(token.expiresAt) - clock.unsafeCurrentTimeMillis()
      const expiresAt = Math.min(sentAt + Content.lifetimeOf(token), held.now() + left)
      seen.remember(entry, held.fence, token)
      // a process that was stopped may get a response after hours
      if (expiresAt > held.now()) yield* publish(publishToken(session, entry, held.fence, token, expiresAt))
    } else {
      const failure = Option.filter(Cause.failureOption(outcome.cause), Content.isShared)
      // the mark of a rotation remains, for processes that can read the next secret
      if (Option.isSome(failure) && !isRotated) yield* publish(publishFailure(session, entry, held, failure.value))
    }
    return yield* outcome
  })

  /** A token of the fleet. The scope has the lease under which it was requested. */
  const shared = Effect.fnUntraced(function*(
    session: Session,
    replaces: Replaces
  ): Effect.fn.Return<AccessToken, Alone | TokenError, Scope.Scope> {
    const waitEndsAt = millis() + Duration.toMillis(endpoint.deadline)
    let entry = yield* currentEntry(session)
    let seenFence = seen.highestFence(entry)
    // the supply has just read them for `refresh`
    let hasReadCredentials = replaces._tag === "Refresh"
    let run = session.withinBudget
    while (true) {
      const lookedAt = millis()
      const readAt = yield* DateTime.now
      const { lease, slots } = yield* takeLease(session, run, entry, seenFence)
      const found = yield* seen.judge(entry, slots, readAt, replaces)
      if (found._tag === "Token") return found.token
      const isRefused = found._tag === "Rotated" || (found._tag === "Failure" && found.failure._tag === "InvalidClient")
      if (isRefused && !hasReadCredentials) {
        hasReadCredentials = true
        yield* client.rereadCredentials
        const next = yield* currentEntry(session)
        const isOther = next.name !== entry.name
        entry = next
        if (isOther) {
          seenFence = seen.highestFence(entry)
          continue
        }
      }
      if (found._tag === "Failure") return yield* found.failure
      if (Option.isSome(lease)) {
        return yield* request(session, entry, lease.value, { isRotated: found._tag === "Rotated", replaces })
      }
      const highest = Fences.highestOf(slots)
      if (highest > seenFence) {
        // none of these values can be used, so the process tries to take the lease
        seenFence = highest
        continue
      }
      // from now on, the process waits for another one
      run = session.unhurried
      if (millis() >= waitEndsAt) return yield* endpoint.requestToken(replaces)
      const pause = yield* Random.nextRange(leasePauseMillis.from, leasePauseMillis.to)
      const busy = Math.min(leasePauseMillis.atMost, 4 * (millis() - lookedAt))
      yield* Effect.sleep(Duration.millis(pause + busy))
    }
  })

  /** Returns the outcome at once. Publishes it and gives the lease back in the background. */
  const obtained = (session: Session, replaces: Replaces): Effect.Effect<AccessToken, Alone | TokenError> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const outcome = yield* Effect.exit(restore(Scope.extend(shared(session, replaces), scope)))
        yield* background.run(Effect.zipRight(Scope.close(scope, outcome), session.end))
        return yield* outcome
      })
    )

  const requestToken = (replaces: Replaces): Effect.Effect<AccessToken, TokenError> =>
    // the lease under which this process publishes its last token would keep it waiting as if another one had it
    Effect.flatMap(Effect.zipRight(background.idle, access.session), (session) => obtained(session, replaces)).pipe(
      Effect.tap((token) => token.shared === true ? access.taken("tokensTaken") : Effect.void),
      Effect.tapError((error) =>
        error._tag !== "Alone" && Content.isShared(error) && error.shared === true
          ? access.taken("failuresTaken")
          : Effect.void
      ),
      Effect.catchTag("Alone", () => endpoint.requestToken(replaces))
    )

  const look = Effect.fnUntraced(function*(session: Session, entry: Entry, replaces: Replaces) {
    const readAt = yield* DateTime.now
    return yield* seen.judge(entry, yield* session.withinBudget(store.read(entry.name)), readAt, replaces)
  })

  /** The token that is in the store now. */
  const lookOnce = Effect.fnUntraced(function*(session: Session, replaces: Replaces, failure: TokenError) {
    const entry = yield* currentEntry(session)
    const found = yield* look(session, entry, replaces)
    if (found._tag === "Token") return Option.some(found.token)
    // the next secret has another entry
    if (failure._tag !== "InvalidClient") return Option.none()
    yield* client.rereadCredentials
    const next = yield* currentEntry(session)
    if (next.name === entry.name) return Option.none()
    const other = yield* look(session, next, replaces)
    return other._tag === "Token" ? Option.some(other.token) : Option.none()
  })
  const find = (replaces: Replaces, failure: TokenError): Effect.Effect<Option.Option<AccessToken>> =>
    Effect.flatMap(
      access.session,
      (session) => Effect.ensuring(lookOnce(session, replaces, failure), session.end)
    ).pipe(
      Effect.tap(Option.match({ onNone: () => Effect.void, onSome: () => access.taken("tokensTaken") })),
      Effect.catchTag("Alone", () => Effect.succeedNone)
    )

  return { requestToken, find }
})
