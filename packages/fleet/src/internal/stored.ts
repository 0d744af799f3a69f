import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as TokenStore from "../TokenStore.ts"
import * as Content from "./content.ts"
import type { Entry } from "./entry.ts"
import * as Envelope from "./envelope.ts"

/** What the two slots of an entry contain. Reads only. */
export const read = Effect.fnUntraced(function*(
  { environment, url }: TokenEndpoint.Service,
  entry: Entry,
  store: TokenStore.Service
) {
  const readAt = yield* DateTime.now
  const slots = yield* store.read(entry.name)
  const opened = Effect.fnUntraced(function*<A>(
    slot: TokenStore.Slot,
    decode: (text: string, remaining: Duration.Duration) => Option.Option<A>
  ) {
    if (Option.isNone(slots[slot])) return Option.none<A>()
    const { bytes, fence, remaining } = slots[slot].value
    const text = yield* Envelope.open(entry, { slot, fence }, bytes)
    return Option.flatMap(text, (text) => decode(text, remaining))
  })

  const token = Option.map(
    yield* opened("Token", (text, remaining) => Content.decodeToken(readAt, remaining)(text)),
    ({ token }) => token
  )
  const where = { environment: environment.name, tokenEndpoint: url }
  const failure = yield* opened(
    "Failure",
    (text, remaining) =>
      Option.flatMap(Content.decodeFailure(where, readAt, remaining)(text), (error) =>
        // the mark of a rotation is no failure
        error === Content.rotated
          ? Option.none()
          : Option.some({ error, until: DateTime.addDuration(readAt, remaining) }))
  )
  const now = yield* DateTime.now
  return { token: Option.filter(token, (token) => !token.isExpiredAt(now)), failure }
})
