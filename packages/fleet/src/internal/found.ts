import type { AccessToken } from "@credit-data/core/AccessToken"
import type { Replaces } from "@credit-data/core/Replaces"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import { Instant } from "@credit-data/core/Internal"
import type * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import type * as TokenStore from "../TokenStore.ts"
import * as Content from "./content.ts"
import type { Entry } from "./entry.ts"
import * as Envelope from "./envelope.ts"
import * as Fences from "./fences.ts"
import type { StoreAccess } from "./storeAccess.ts"

/**
 * What the values of an entry mean to a process. `Rotated`: the client secret was rotated, and this process may have the old one.
 */
export type Found = Data.TaggedEnum<{
  Token: { readonly token: AccessToken }
  Failure: { readonly failure: Content.SharedFailure }
  Rotated: {}
  Nothing: {}
}>
export const Found = Data.taggedEnum<Found>()

interface Options {
  readonly endpoint: TokenEndpoint.Service
  readonly access: StoreAccess
  readonly clock: Clock.Clock
}

/** Judges the values of an entry by what this process has seen before. */
export const make = ({ access, clock, endpoint }: Options) => {
  const where = { environment: endpoint.environment.name, tokenEndpoint: endpoint.url }
  const fences = Fences.make()
  /** The last token that this process took or obtained, its fence, and the end of its life. */
  let latest:
    | { readonly token: AccessToken; readonly name: string; readonly fence: number; readonly endsAt: Instant.Instant }
    | undefined
  /** The last failure that this process took. It counts until this instant, however often it is written again. */
  let lastFailure: { readonly name: string; readonly fence: number; readonly endsAt: Instant.Instant } | undefined
  const now = () => Instant.now(clock)

  const remember = ({ name }: Entry, fence: number, token: AccessToken) => {
    latest = { token, name, fence, endsAt: Instant.atWallTime(now(), DateTime.toEpochMillis(token.expiresAt)) }
  }

  /** May a stored token take the place of the token that is to be replaced? Only if it is a newer one. */
  const mayReplace = (stored: AccessToken, name: string, fence: number, replaces: Replaces): boolean => {
    const isLatest = latest !== undefined && Equal.equals(stored.secret, latest.token.secret)
    // it has expired here, whatever another clock shows
    if (latest !== undefined && isLatest && Instant.reached(now(), latest.endsAt)) return false
    if (replaces._tag === "Nothing" || replaces.token === undefined) return true
    if (Equal.equals(stored.secret, replaces.token.secret)) return false
    if (replaces._tag === "Insufficient" && !stored.covers(replaces.scope)) return false
    return latest !== undefined && latest.name === name && Equal.equals(latest.token.secret, replaces.token.secret)
      ? fence > latest.fence
      // the process got that token without the store or with another secret, so there are only the times to compare
      : DateTime.greaterThan(stored.requestedAt, replaces.token.requestedAt)
  }

  /** What the values mean that were read at this wall time. */
  const judge = Effect.fnUntraced(function*(
    entry: Entry,
    slots: TokenStore.Slots,
    readAt: DateTime.Utc,
    replaces: Replaces
  ): Effect.fn.Return<Found> {
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
        remember(entry, fence, token)
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

  return {
    judge,
    /** Notes the token that this process obtained under this fence. */
    remember,
    /** Notes what this process published. */
    published: fences.see,
    /** The highest fence of what this process has seen. */
    highestFence: ({ name }: Entry) => Math.max(fences.highest(name), latest?.name === name ? latest.fence : 0)
  }
}
