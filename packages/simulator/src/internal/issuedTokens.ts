import type * as AccessScope from "@credit-data/core/AccessScope"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { IssuedToken } from "../IssuedToken.ts"
import type { Changes } from "./changes.ts"

/** The issued tokens, by their text. The business API and the authorization servers share this store. */
export interface IssuedTokens {
  /** Issues a token, as the response to the token request with this id. */
  readonly issue: (
    issued: Pick<IssuedToken, "version" | "scopes">,
    lifetime: Duration.Duration,
    request: number
  ) => Effect.Effect<string>
  /** The token with this text. Fails with the reason if it is not valid. */
  readonly find: (text: string) => Effect.Effect<IssuedToken, string>
  /** The id of the token with this text, valid or not. */
  readonly idOf: (text: string) => Option.Option<number>
  readonly revoke: (text: string) => Effect.Effect<void>
  /** Whether a token has this id. */
  readonly revokeById: (id: number) => Effect.Effect<boolean>
  readonly revokeAll: Effect.Effect<void>
  /** Forgets all tokens, so that none of them is valid. */
  readonly clear: () => void
}

const floorToSeconds = (instant: DateTime.Utc) => DateTime.startOf(instant, "second")

export const make = ({ changes, wholeSeconds }: {
  readonly changes: Changes
  readonly wholeSeconds: boolean
}): IssuedTokens => {
  const tokens = new Map<string, IssuedToken>()
  const texts = new Map<number, string>()

  const forget = (text: string, { id }: IssuedToken) => {
    tokens.delete(text)
    texts.delete(id)
  }

  /** Tokens are in the order in which they expire, because all have the same lifetime. */
  const forgetExpired = (now: DateTime.Utc) => {
    for (const [text, token] of tokens) {
      if (DateTime.lessThan(now, token.expiresAt)) return
      forget(text, token)
    }
  }

  const revoke = (text: string) =>
    changes.record((revision) => {
      const token = tokens.get(text)
      if (token === undefined || token.revoked) return
      const revoked = { ...token, revoked: true }
      tokens.set(text, revoked)
      changes.tokens.change(revision, token.id, () => revoked)
    })

  return {
    issue: Effect.fnUntraced(function*(issued, lifetime, request) {
      const now = yield* DateTime.now
      const random = yield* Random.nextIntBetween(0, 2 ** 48)
      const issuedAt = wholeSeconds ? floorToSeconds(now) : now
      const expiresAt = DateTime.addDuration(issuedAt, lifetime)
      return yield* changes.record((revision) => {
        forgetExpired(now)
        const token = changes.tokens.add(revision, (id) => ({
          ...issued,
          id,
          issuedAt,
          expiresAt: wholeSeconds ? floorToSeconds(expiresAt) : expiresAt,
          revoked: false
        }))
        const text = `simulated.${issued.version}.${token.id}.${random.toString(36)}`
        tokens.set(text, token)
        texts.set(token.id, text)
        changes.requests.change(revision, request, (received) => ({ ...received, issuedToken: Option.some(token.id) }))
        return text
      })
    }),
    find: (text) =>
      Effect.flatMap(DateTime.now, (now) => {
        const token = tokens.get(text)
        if (token === undefined) {
          return Effect.fail(
            "The simulator has not issued this token, or has forgotten it after its end or after a reset. Request a new one."
          )
        }
        if (token.revoked) return Effect.fail(`Token ${token.id} was revoked. Request a new one.`)
        return DateTime.lessThan(now, token.expiresAt)
          ? Effect.succeed(token)
          : Effect.fail(`Token ${token.id} expired at ${DateTime.formatIso(token.expiresAt)}. Request a new one.`)
      }),
    idOf: (text) => Option.map(Option.fromNullable(tokens.get(text)), ({ id }) => id),
    revoke,
    revokeById: (id) =>
      Effect.suspend(() => {
        const text = texts.get(id)
        return text === undefined ? Effect.succeed(false) : Effect.as(revoke(text), true)
      }),
    revokeAll: Effect.suspend(() => Effect.forEach([...tokens.keys()], revoke, { discard: true })),
    clear: () => {
      tokens.clear()
      texts.clear()
    }
  }
}

/** Whether a token opens the endpoint group of this scope. */
export const opens = (token: IssuedToken, scope: AccessScope.AccessScope): boolean =>
  token.version === "V1" || token.scopes.includes(scope)
