import type { AccessToken } from "@credit-data/core/AccessToken"
import type { Replaces } from "@credit-data/core/Replaces"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import type { TokenError } from "@credit-data/core/TokenError"
import { within } from "@credit-data/core/Unstable"
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
  /** The last token that this process took or published, and its fence. */
  let latest: { readonly token: AccessToken; readonly name: string; readonly fence: number } | undefined
  const millis = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
  const currentEntry = (session: Session) => Effect.catchAll(readEntry, () => session.fail("Sealing"))

  /** May a stored token take the place of the one that is to be replaced? Only if it is a newer one. */
  const mayReplace = (stored: AccessToken, name: string, fence: number, replaces: Replaces): boolean => {
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

    const token = yield* opened("Token", (remaining) => Content.decodeToken(readAt, remaining))
    const now = yield* DateTime.now
    if (Option.isSome(token) && Option.isSome(slots.Token) && !token.value.isExpiredAt(now)) {
      const { fence } = slots.Token.value
      if (mayReplace(token.value, entry.name, fence, replaces)) {
        latest = { token: token.value, name: entry.name, fence }
        return Found.Token({ token: token.value })
      }
    }
    const failure = yield* opened("Failure", (remaining) => Content.decodeFailure(where, remaining))
    if (Option.isNone(failure)) return Found.Nothing()
    if (failure.value === Content.rotated) return Found.Rotated()
    return replaces._tag === "Refresh" ? Found.Nothing() : Found.Failure({ failure: failure.value })
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
    slot: TokenStore.Slot,
    { fence, now }: Held,
    { text, timeToLive }: Content.Content
  ) {
    const place = { slot, fence }
    const bytes = yield* Envelope.seal(entry, place, text)
    const isPublished = yield* session.use(
      store.publish(entry.name, slot, { bytes, fence, expiresAt: now() + timeToLive })
    )
    if (!isPublished) return
    fences.see(entry.name, place)
    yield* access.published(slot)
  })

  const publishToken = Effect.fnUntraced(function*(session: Session, entry: Entry, held: Held, token: AccessToken) {
    const content = Content.encodeToken(token, yield* DateTime.now)
    const putToken = (entry: Entry, held: Held) =>
      Effect.zipRight(
        put(session, entry, "Token", held, content),
        Effect.sync(() => {
          latest = { token, name: entry.name, fence: held.fence }
        })
      )
    // the token request may have read the credentials again
    const next = yield* currentEntry(session)
    if (next.name === entry.name) return yield* putToken(next, held)
    yield* put(session, entry, "Failure", held, Content.encodeRotated(content.timeToLive))
    yield* withLease(session, session.use, next, (held) => putToken(next, held))
  })

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
    const outcome = yield* Effect.exit(endpoint.requestToken(replaces))
    // a fault of the store changes nothing about the outcome
    if (Exit.isSuccess(outcome)) {
      yield* Effect.ignore(publishToken(session, entry, held, outcome.value))
    } else {
      const failure = Option.filter(Cause.failureOption(outcome.cause), Content.isShared)
      // the mark of a rotation stays, for processes that can read the next secret
      if (Option.isSome(failure) && found._tag !== "Rotated") {
        yield* Effect.ignore(put(session, entry, "Failure", held, Content.encodeFailure(failure.value)))
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

  return (replaces: Replaces): Effect.Effect<AccessToken, TokenError> =>
    Effect.flatMap(access.session, (session) => Effect.ensuring(shared(session, replaces), session.end)).pipe(
      Effect.tap((token) => token.shared === true ? access.taken("tokensTaken") : Effect.void),
      Effect.tapError((error) =>
        error._tag !== "Alone" && Content.isShared(error) && error.shared === true
          ? access.taken("failuresTaken")
          : Effect.void
      ),
      Effect.catchTag("Alone", () => endpoint.requestToken(replaces))
    )
}
