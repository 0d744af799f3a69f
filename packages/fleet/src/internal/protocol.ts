import type { AccessToken } from "@credit-data/core/AccessToken"
import type { Replaces } from "@credit-data/core/Replaces"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import type { TokenError } from "@credit-data/core/TokenError"
import { Instant, within } from "@credit-data/core/Unstable"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import type * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as TokenStore from "../TokenStore.ts"
import * as Content from "./content.ts"
import * as Envelope from "./envelope.ts"
import type { Entry } from "./entry.ts"
import * as Fences from "./fences.ts"
import type { Alone, Session, StoreAccess } from "./storeAccess.ts"

/** How long a lease lasts. It is short, because the others wait this long for a process that was killed. */
const leaseDuration = Duration.seconds(2)

/** How often a lease is renewed while the token request runs. */
const renewalInterval = Duration.millis(500)

/**
 * The pauses in milliseconds between two looks at the store, while another process has the lease: a random time, and four times that
 * of a look, up to `atMost`. Hundreds of processes keep the store and their machine busy if they look too often.
 */
const poll = { from: 20, to: 200, atMost: 1_000 }

/** The lease is given back within this time, because a scope that closes waits for it. */
const releaseTimeout = Duration.millis(250)

/** What a look at the store found. `Rotated`: the client secret was rotated, and this process may have the old one. */
type Found = Data.TaggedEnum<{
  Token: { readonly token: AccessToken }
  Failure: { readonly failure: Content.SharedFailure }
  Rotated: {}
  Nothing: {}
}>
const Found = Data.taggedEnum<Found>()

/** A lease that this process has, and the store's clock. */
interface Held {
  readonly fence: number
  readonly now: () => number
}

interface Options {
  readonly endpoint: TokenEndpoint.Service
  /** The entry of the endpoint's credentials, as they are now. */
  readonly entry: Effect.Effect<Entry, ConfigError.ConfigError>
  readonly store: TokenStore.Service
  readonly access: StoreAccess
  readonly clock: Clock.Clock
}

/**
 * The token requests of a process whose fleet shares a store. One process of the fleet at a time has the lease and sends a token
 * request. The others wait for what it publishes. When the store is faulty, each process goes on alone.
 */
export const make = ({ access, clock, endpoint, entry: readEntry, store }: Options) => {
  const where = { environment: endpoint.environment.name, tokenEndpoint: endpoint.url }
  const fences = Fences.make()
  /** The last token that this process took or published, its fence, and the end of its life. */
  let latest:
    | { readonly token: AccessToken; readonly name: string; readonly fence: number; readonly endsAt: Instant.Instant }
    | undefined
  /** The last failure that this process took. It counts until this instant, however often somebody writes it again. */
  let lastFailure: { readonly name: string; readonly fence: number; readonly endsAt: Instant.Instant } | undefined
  const now = () => Instant.now(clock)
  const millis = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
  const currentEntry = (session: Session) => Effect.catchAll(readEntry, () => session.fail("Sealing"))

  /** May a stored token take the place of the one that is to be replaced? Only if it is a newer one. */
  const mayReplace = (stored: AccessToken, name: string, fence: number, replaces: Replaces): boolean => {
    const isLatest = latest !== undefined && Equal.equals(stored.secret, latest.token.secret)
    // it has expired here, whatever another clock shows
    if (latest !== undefined && isLatest && Instant.reached(now(), latest.endsAt)) return false
    if (replaces._tag === "Nothing" || replaces.token === undefined) return true
    if (Equal.equals(stored.secret, replaces.token.secret)) return false
    if (replaces._tag === "Insufficient" && !stored.covers(replaces.scope)) return false
    return latest !== undefined && latest.name === name && Equal.equals(latest.token.secret, replaces.token.secret)
      ? fence > latest.fence
      // the process got that token alone or with another secret, so there are only the times to compare
      : DateTime.greaterThan(stored.requestedAt, replaces.token.requestedAt)
  }

  const look = Effect.fnUntraced(function*(
    use: Session["use"],
    entry: Entry,
    replaces: Replaces
  ): Effect.fn.Return<Found, Alone> {
    const readAt = yield* DateTime.now
    const slots = yield* use(store.read(entry.name))
    const opened = Effect.fnUntraced(function*<A>(
      slot: TokenStore.Slot,
      decode: (remaining: Duration.Duration) => (text: string) => Option.Option<A>
    ) {
      if (Option.isNone(slots[slot])) return Option.none<A>()
      const { bytes, fence, remaining } = slots[slot].value
      const place = { slot, fence }
      if (fences.isOld(entry.name, place)) return Option.none<A>()
      const content = Option.flatMap(yield* Envelope.open(entry, place, bytes), decode(remaining))
      if (Option.isSome(content)) fences.see(entry.name, place)
      return content
    })

    const found = yield* opened("Token", (remaining) => Content.decodeToken(readAt, remaining))
    if (Option.isSome(found) && Option.isSome(slots.Token)) {
      const { skewMillis, token } = found.value
      const { fence } = slots.Token.value
      yield* access.skewed(skewMillis)
      if (!token.isExpiredAt(yield* DateTime.now) && mayReplace(token, entry.name, fence, replaces)) {
        const endsAt = Instant.atWallTime(now(), DateTime.toEpochMillis(token.expiresAt))
        latest = { token, name: entry.name, fence, endsAt }
        return Found.Token({ token })
      }
    }
    const stored = yield* opened("Failure", (remaining) => Content.decodeFailure(where, readAt, remaining))
    if (Option.isNone(stored) || Option.isNone(slots.Failure)) return Found.Nothing()
    if (stored.value === Content.rotated) return Found.Rotated()
    const { fence, remaining } = slots.Failure.value
    if (lastFailure?.name !== entry.name || lastFailure.fence !== fence) {
      lastFailure = { name: entry.name, fence, endsAt: Instant.later(now(), Duration.toMillis(remaining)) }
    }
    return replaces._tag === "Refresh" || Instant.reached(now(), lastFailure.endsAt)
      ? Found.Nothing()
      : Found.Failure({ failure: stored.value })
  })

  /** Runs an effect with the lease, and renews the lease meanwhile. None if another process has it. */
  const withLease = <A, E>(
    session: Session,
    take: Session["use"],
    { name }: Entry,
    use: (lease: Held) => Effect.Effect<A, E>
  ): Effect.Effect<Option.Option<A>, E | Alone> =>
    Effect.suspend(() => {
      const lease = { owner: crypto.randomUUID(), duration: leaseDuration }
      const renew = Effect.flatMap(access.session, (session) => session.use(store.renewLease(name, lease)))
      const keep = Effect.forever(Effect.delay(Effect.ignore(renew), renewalInterval))
      return Effect.acquireUseRelease(
        take(store.takeLease(name, { ...lease, above: fences.highest(name) })),
        Option.match({
          onNone: () => Effect.succeed(Option.none<A>()),
          onSome: ({ fence, takenAt }) => {
            const at = millis()
            const held = { fence, now: () => takenAt + millis() - at }
            return Effect.scoped(Effect.zipRight(Effect.forkScoped(keep), Effect.map(use(held), Option.some)))
          }
        }),
        Option.match({
          onNone: () => Effect.void,
          onSome: () =>
            session.use(store.releaseLease(name, lease.owner)).pipe(
              within(releaseTimeout, () => undefined),
              Effect.ignore
            )
        })
      )
    })

  const put = Effect.fnUntraced(function*(
    session: Session,
    entry: Entry,
    place: Envelope.Place,
    content: { readonly text: string; readonly expiresAt: number }
  ) {
    const { fence, slot } = place
    const bytes = yield* Envelope.seal(entry, place, content.text)
    const isPublished = yield* session.use(
      store.publish(entry.name, slot, { bytes, fence, expiresAt: content.expiresAt })
    )
    if (!isPublished) return
    fences.see(entry.name, place)
    yield* access.published(slot)
  })

  /** Publishes a token that ends at this time of the store's clock. */
  const publishToken = Effect.fnUntraced(
    function*(session: Session, entry: Entry, { fence }: Held, token: AccessToken, expiresAt: number) {
      const endsAt = Instant.atWallTime(now(), DateTime.toEpochMillis(token.expiresAt))
      const putToken = (entry: Entry, fence: number) =>
        Effect.zipRight(
          put(session, entry, { slot: "Token", fence }, { text: Content.encodeToken(token), expiresAt }),
          Effect.sync(() => {
            latest = { token, name: entry.name, fence, endsAt }
          })
        )
      // the token request may have read the credentials again
      const next = yield* currentEntry(session)
      if (next.name === entry.name) return yield* putToken(next, fence)
      yield* put(session, entry, { slot: "Failure", fence }, { text: Content.encodeRotated(token), expiresAt })
      yield* withLease(session, session.use, next, (held) => putToken(next, held.fence))
    }
  )

  const publishFailure = Effect.fnUntraced(
    function*(session: Session, entry: Entry, held: Held, failure: Content.SharedFailure) {
      const expiresAt = held.now() + Content.lifetimeOfFailure(failure)
      const text = Content.encodeFailure(failure, yield* DateTime.now)
      yield* put(session, entry, { slot: "Failure", fence: held.fence }, { text, expiresAt })
    }
  )

  /** The token request of the process that has the lease. None if another process was faster and failed. */
  const request = Effect.fnUntraced(function*(
    session: Session,
    entry: Entry,
    held: Held,
    replaces: Replaces
  ): Effect.fn.Return<Option.Option<AccessToken>, Alone | TokenError> {
    const found = yield* look(session.use, entry, replaces)
    if (found._tag === "Token") return Option.some(found.token)
    if (found._tag === "Failure") return Option.none()
    const sentAt = held.now()
    const outcome = yield* Effect.exit(endpoint.requestToken(replaces))
    // a fault of the store changes nothing about the outcome
    if (Exit.isSuccess(outcome)) {
      const token = outcome.value
      // calculated once, because clocks can be set, and this process can be stopped, before the token is published
      const left = DateTime.toEpochMillis(token.expiresAt) - clock.unsafeCurrentTimeMillis()
      const expiresAt = Math.min(sentAt + Content.lifetimeOf(token), held.now() + left)
      yield* Effect.ignore(publishToken(session, entry, held, token, expiresAt))
    } else {
      const failure = Option.filter(Cause.failureOption(outcome.cause), Content.isShared)
      // the mark of a rotation stays, for processes that can read the next secret
      if (Option.isSome(failure) && found._tag !== "Rotated") {
        yield* Effect.ignore(publishFailure(session, entry, held, failure.value))
      }
    }
    return Option.some(yield* outcome)
  })

  const shared = Effect.fnUntraced(function*(
    session: Session,
    replaces: Replaces
  ): Effect.fn.Return<AccessToken, Alone | TokenError> {
    const waitEndsAt = millis() + Duration.toMillis(endpoint.deadline)
    let entry = yield* currentEntry(session)
    // the supply has just read them for `refresh`
    let hasReadCredentials = replaces._tag === "Refresh"
    let { use } = session
    while (true) {
      const lookedAt = millis()
      const found = yield* look(use, entry, replaces)
      if (found._tag === "Token") return found.token
      const isRefused = found._tag === "Rotated" || (found._tag === "Failure" && found.failure._tag === "InvalidClient")
      if (isRefused && !hasReadCredentials) {
        hasReadCredentials = true
        yield* endpoint.rereadCredentials ?? Effect.void
        const next = yield* currentEntry(session)
        const isOther = next.name !== entry.name
        entry = next
        if (isOther) continue
      }
      if (found._tag === "Failure") return yield* found.failure
      const current = entry
      const outcome = yield* withLease(session, use, current, (held) => request(session, current, held, replaces))
      // from now on, the process waits for another one
      use = session.poll
      if (Option.isNone(outcome)) {
        if (millis() >= waitEndsAt) return yield* endpoint.requestToken(replaces)
        const pause = yield* Random.nextRange(poll.from, poll.to)
        const busy = Math.min(poll.atMost, 4 * (millis() - lookedAt))
        yield* Effect.sleep(Duration.millis(pause + busy))
      } else if (Option.isSome(outcome.value)) {
        return outcome.value.value
      }
    }
  })

  const requestToken = (replaces: Replaces): Effect.Effect<AccessToken, TokenError> =>
    Effect.flatMap(access.session, (session) => Effect.ensuring(shared(session, replaces), session.end)).pipe(
      Effect.tap((token) => token.shared === true ? access.taken("tokensTaken") : Effect.void),
      Effect.tapError((error) =>
        error._tag !== "Alone" && Content.isShared(error) && error.shared === true
          ? access.taken("failuresTaken")
          : Effect.void
      ),
      Effect.catchTag("Alone", () => endpoint.requestToken(replaces))
    )

  /** The token that is in the store now. */
  const lookOnce = Effect.fnUntraced(function*(session: Session, replaces: Replaces, failure: TokenError) {
    const entry = yield* currentEntry(session)
    const found = yield* look(session.use, entry, replaces)
    if (found._tag === "Token") return Option.some(found.token)
    // the next secret has another entry
    if (failure._tag !== "InvalidClient" || endpoint.rereadCredentials === undefined) return Option.none()
    yield* endpoint.rereadCredentials
    const next = yield* currentEntry(session)
    if (next.name === entry.name) return Option.none()
    const other = yield* look(session.use, next, replaces)
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
}
