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

/** The pauses in milliseconds between two looks at the store, while another process has the lease. */
const poll = { from: 20, to: 200 }

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

interface Options {
  readonly endpoint: TokenEndpoint.Service
  /** The entry of the endpoint's credentials, as they are now. */
  readonly entry: Effect.Effect<Entry, ConfigError.ConfigError>
  readonly store: TokenStore.Service
  readonly access: StoreAccess
  readonly clock: Clock.Clock
}

/** May a stored token take the place of the one that is to be replaced? Only if it is a newer one. */
const mayReplace = (stored: AccessToken, replaces: Replaces): boolean =>
  replaces._tag === "Nothing" || replaces.token === undefined ||
  (!Equal.equals(stored.secret, replaces.token.secret) &&
    DateTime.greaterThan(stored.requestedAt, replaces.token.requestedAt))

/**
 * The token requests of a process whose fleet shares a store. One process of the fleet at a time has the lease and sends a token
 * request. The others wait for what it publishes. When the store is faulty, each process goes on alone.
 */
export const make = ({ access, clock, endpoint, entry: readEntry, store }: Options) => {
  const where = { environment: endpoint.environment.name, tokenEndpoint: endpoint.url }
  const fences = Fences.make()
  const millis = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
  const currentEntry = Effect.catchAll(readEntry, () => Effect.flatMap(access.fault("Sealing"), Effect.fail))

  const look = Effect.fnUntraced(function*(
    session: Session,
    entry: Entry,
    replaces: Replaces
  ): Effect.fn.Return<Found, Alone> {
    const readAt = yield* DateTime.now
    const slots = yield* session.use(store.read(entry.name))
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
    if (Option.isSome(token) && mayReplace(token.value, replaces)) return Found.Token({ token: token.value })
    const failure = yield* opened("Failure", (remaining) => Content.decodeFailure(where, remaining))
    if (Option.isNone(failure)) return Found.Nothing()
    if (failure.value === Content.rotated) return Found.Rotated()
    return replaces._tag === "Refresh" ? Found.Nothing() : Found.Failure({ failure: failure.value })
  })

  /** Runs an effect with the lease, and renews the lease meanwhile. None if another process has it. */
  const withLease = <A, E>(
    session: Session,
    { name }: Entry,
    use: (fence: number) => Effect.Effect<A, E>
  ): Effect.Effect<Option.Option<A>, E | Alone> =>
    Effect.suspend(() => {
      const lease = { owner: crypto.randomUUID(), duration: leaseDuration }
      const renew = Effect.flatMap(access.session, (session) => session.use(store.renewLease(name, lease)))
      const keep = Effect.forever(Effect.delay(Effect.ignore(renew), renewalInterval))
      return Effect.acquireUseRelease(
        session.use(store.takeLease(name, { ...lease, above: fences.highest(name) })),
        Option.match({
          onNone: () => Effect.succeed(Option.none<A>()),
          onSome: (fence) =>
            Effect.scoped(Effect.zipRight(Effect.forkScoped(keep), Effect.map(use(fence), Option.some)))
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
    { text, timeToLive }: Content.Content
  ) {
    const bytes = yield* Envelope.seal(entry, place, text)
    const isPublished = yield* session.use(
      store.publish(entry.name, place.slot, { bytes, fence: place.fence, timeToLive })
    )
    if (!isPublished) return
    fences.see(entry.name, place)
    yield* access.published(place.slot)
  })

  /** Publishes the outcome of a token request. A fault of the store changes nothing about the outcome. */
  const publish = Effect.fnUntraced(
    function*(session: Session, entry: Entry, fence: number, outcome: Exit.Exit<AccessToken, TokenError>) {
      if (Exit.isFailure(outcome)) {
        const failure = Option.filter(Cause.failureOption(outcome.cause), Content.isShared)
        if (Option.isSome(failure)) {
          yield* put(session, entry, { slot: "Failure", fence }, Content.encodeFailure(failure.value))
        }
        return
      }
      const content = Content.encodeToken(outcome.value, yield* DateTime.now)
      // the token request may have read the credentials again
      const next = yield* currentEntry
      if (next.name === entry.name) return yield* put(session, next, { slot: "Token", fence }, content)
      yield* put(session, entry, { slot: "Failure", fence }, Content.encodeRotated(content.timeToLive))
      yield* withLease(session, next, (fence) => put(session, next, { slot: "Token", fence }, content))
    },
    (effect) => Effect.ignore(effect)
  )

  /** The token request of the process that has the lease. None if another process was faster and failed. */
  const request = Effect.fnUntraced(function*(
    session: Session,
    entry: Entry,
    fence: number,
    replaces: Replaces
  ): Effect.fn.Return<Option.Option<AccessToken>, Alone | TokenError> {
    const found = yield* look(session, entry, replaces)
    if (found._tag === "Token") return Option.some(found.token)
    if (found._tag === "Failure") return Option.none()
    const outcome = yield* Effect.exit(endpoint.requestToken(replaces))
    yield* publish(session, entry, fence, outcome)
    return Option.some(yield* outcome)
  })

  const shared = Effect.fnUntraced(function*(replaces: Replaces): Effect.fn.Return<AccessToken, Alone | TokenError> {
    const session = yield* access.session
    const waitEndsAt = millis() + Duration.toMillis(endpoint.deadline)
    let entry = yield* currentEntry
    // the supply has just read them for `refresh`
    let hasReadCredentials = replaces._tag === "Refresh"
    while (true) {
      const found = yield* look(session, entry, replaces)
      if (found._tag === "Token") return found.token
      const isRefused = found._tag === "Rotated" || (found._tag === "Failure" && found.failure._tag === "InvalidClient")
      if (isRefused && !hasReadCredentials) {
        hasReadCredentials = true
        yield* endpoint.rereadCredentials ?? Effect.void
        const next = yield* currentEntry
        const isOther = next.name !== entry.name
        entry = next
        if (isOther) continue
      }
      if (found._tag === "Failure") return yield* found.failure
      const held = entry
      const outcome = yield* withLease(session, held, (fence) => request(session, held, fence, replaces))
      if (Option.isNone(outcome)) {
        if (millis() >= waitEndsAt) return yield* endpoint.requestToken(replaces)
        yield* Effect.sleep(Duration.millis(yield* Random.nextRange(poll.from, poll.to)))
      } else if (Option.isSome(outcome.value)) {
        return outcome.value.value
      }
    }
  })

  return (replaces: Replaces): Effect.Effect<AccessToken, TokenError> =>
    shared(replaces).pipe(
      Effect.tap((token) => token.shared === true ? access.taken("tokensTaken") : Effect.void),
      Effect.tapError((error) =>
        error._tag !== "Alone" && Content.isShared(error) && error.shared === true
          ? access.taken("failuresTaken")
          : Effect.void
      ),
      Effect.catchTag("Alone", () => endpoint.requestToken(replaces))
    )
}
