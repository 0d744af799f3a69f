import type * as AccessScope from "@credit-data/core/AccessScope"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"

/** A token that an authorization server issued. */
export interface Issued {
  /** A V1 token opens all groups. A V2 token opens the groups of its scopes. */
  readonly version: "V1" | "V2"
  readonly scopes: ReadonlyArray<string>
  readonly expiresAtMillis: number
}

/** The issued tokens, by their text. The business API and the authorization servers share this store. */
export interface TokenStore {
  readonly issue: (
    issued: Pick<Issued, "version" | "scopes">,
    lifetime: Duration.Duration
  ) => Effect.Effect<string>
  /** The token with this text, if it was issued, has not expired and was not revoked. */
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

/** Whether a token opens the endpoint group of this scope. */
export const opens = (token: Issued, scope: AccessScope.AccessScope): boolean =>
  token.version === "V1" || token.scopes.includes(scope)
