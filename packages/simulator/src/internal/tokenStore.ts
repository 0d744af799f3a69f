import type * as AccessScope from "@credit-data/core/AccessScope"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"

/** A token that an authorization server gave out. */
export interface Issued {
  /** A V1 token opens all groups; a V2 token those of its scopes. */
  readonly version: "V1" | "V2"
  readonly scopes: ReadonlyArray<string>
  readonly expiresAtMillis: number
}

/** The tokens that were given out, by their text. Business API and authorization servers share it. */
export interface TokenStore {
  readonly issue: (
    issued: Pick<Issued, "version" | "scopes">,
    lifetime: Duration.Duration
  ) => Effect.Effect<string>
  /** The token of this text, if it was given out, hasn't expired and wasn't revoked. */
  readonly find: (text: string) => Effect.Effect<Option.Option<Issued>>
  readonly revoke: (text: string) => Effect.Effect<void>
  readonly revokeAll: Effect.Effect<void>
}

export const make = ({ wholeSeconds }: { readonly wholeSeconds: boolean }): TokenStore => {
  const tokens = new Map<string, Issued>()
  let count = 0
  return {
    issue: Effect.fnUntraced(function*(issued, lifetime) {
      const now = yield* Clock.currentTimeMillis
      const random = yield* Random.nextIntBetween(0, 2 ** 48)
      const text = `simulated.${issued.version}.${++count}.${random.toString(36)}`
      const issuedAt = wholeSeconds ? Math.floor(now / 1000) * 1000 : now
      const expiresAt = issuedAt + Duration.toMillis(lifetime)
      tokens.set(text, { ...issued, expiresAtMillis: wholeSeconds ? Math.floor(expiresAt / 1000) * 1000 : expiresAt })
      return text
    }),
    find: (text) =>
      Effect.map(
        Clock.currentTimeMillis,
        (now) => Option.filter(Option.fromNullable(tokens.get(text)), ({ expiresAtMillis }) => now < expiresAtMillis)
      ),
    revoke: (text) => Effect.sync(() => void tokens.delete(text)),
    revokeAll: Effect.sync(() => tokens.clear())
  }
}

/** Does a token open an endpoint group? */
export const opens = (token: Issued, scope: AccessScope.AccessScope): boolean =>
  token.version === "V1" || token.scopes.includes(scope)
