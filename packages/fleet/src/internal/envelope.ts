import { AccessScope } from "@credit-data/core/AccessScope"
import { AccessToken } from "@credit-data/core/AccessToken"
import type { ClientCredentials } from "@credit-data/core/ClientCredentials"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import { InvalidClient, ServerError, type TokenError } from "@credit-data/core/TokenError"
import { storedGrant } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import type * as ConfigError from "effect/ConfigError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Look } from "../StoreEngine.ts"
import * as Format from "./format.ts"
import { nameOf, open, seal, shortestSecret } from "./sealing.ts"

// What is stored for a client: its format, and how it is encrypted.

/** The entry of a client in the store, and the secret that seals it. */
export interface Entry {
  readonly name: string
  readonly secret: Redacted.Redacted
}

/** The entry of a token endpoint with these credentials. */
export const entryOf = (
  { environment: { audience }, requestedScopes: scopes, url }: TokenEndpoint.Service,
  { clientId, clientSecret: secret }: ClientCredentials
): Effect.Effect<Entry, ConfigError.ConfigError> =>
  Redacted.value(secret).length < shortestSecret
    ? Effect.fail(Variables.invalid(
      ["credentials", "clientSecret"],
      `Expected at least ${shortestSecret} characters, to encrypt shared tokens`
    ))
    : Effect.succeed({ name: nameOf(Redacted.value(secret), { url, clientId, audience, scopes }), secret })

const Failure = Schema.Struct({
  endsAt: Schema.Number,
  lifetimeMillis: Schema.Number,
  error: Schema.Union(InvalidClient, ServerError)
})

/** The command reads a part of it without this Schema: see `format.ts`. */
const Token = Schema.Struct({
  secret: Schema.String,
  ...storedGrant,
  lifetimeMillis: Schema.Finite,
  expiresAt: Schema.Finite,
  endsAt: Schema.Finite
})

const Content = Schema.Struct({
  token: Schema.optional(Token),
  failure: Schema.optional(Failure)
})
const Text = Schema.parseJson(Content)

/** The one value of an entry: a token and a failure, or one of them. */
export type Content = typeof Content.Type

/** A failure that other processes would get too. */
export type SharedFailure = InvalidClient | ServerError

export const isShared = (error: TokenError): error is SharedFailure =>
  error._tag === "InvalidClient" || error._tag === "ServerError"

/** The milliseconds of a token's whole life. */
export const lifetimeOf = ({ expiresAt, requestedAt }: AccessToken): number =>
  DateTime.toEpochMillis(expiresAt) - DateTime.toEpochMillis(requestedAt)

/** A token that ends at this time of the store's clock. */
export const contentOfToken = (token: AccessToken, endsAt: number): Content => {
  const { expiresAt, requestedAt: _, secret, tokenType: _type, ...granted } = token
  return {
    token: {
      secret: Redacted.value(secret),
      ...granted,
      lifetimeMillis: lifetimeOf(token),
      expiresAt: DateTime.toEpochMillis(expiresAt),
      endsAt
    }
  }
}

const requestedMillis = (error: SharedFailure): number =>
  error._tag === "ServerError" ? Duration.toMillis(error.retryAfter ?? Duration.zero) : 0

/** A failure is shared for a second, or for the duration of `Retry-After`, next to the token that was stored before. */
export const contentOfFailure = (error: SharedFailure, storeNow: number, token: Content["token"]): Content => {
  const lifetimeMillis = Math.max(requestedMillis(error), 1_000)
  return { token, failure: { error, lifetimeMillis, endsAt: storeNow + lifetimeMillis } }
}

/** When the last part of a content ends, by the store's clock. */
export const endOf = ({ failure, token }: Content): number => Math.max(failure?.endsAt ?? 0, token?.endsAt ?? 0)

/** Seals a content under a fence. */
export const sealed = ({ name, secret }: Entry, fence: number, content: Content): Uint8Array =>
  seal({ secret: Redacted.value(secret), name, fence }, Schema.encodeSync(Text)(content))

/** What a value contains, if this entry's secret has sealed it in this version. */
export const opened = ({ name, secret }: Entry, { value }: Pick<Look, "value">): Option.Option<Content> =>
  value.pipe(
    Option.flatMap(({ bytes, fence }) =>
      Option.fromNullable(open({ secret: Redacted.value(secret), name, fence }, bytes))
    ),
    Option.flatMap(Schema.decodeUnknownOption(Text))
  )

/**
 * The token on the clock of this process, which ends as soon as one of the clocks has reached its end. Both times are of the instant at which
 * it was read.
 */
export const tokenOf = ({ token }: Content, storeNow: number, wall: DateTime.Utc): AccessToken | undefined => {
  if (token === undefined || !Format.isAlive(token, storeNow)) return undefined
  const { endsAt, expiresAt: ownEnd, lifetimeMillis, secret, ...granted } = token
  const left = Math.min(endsAt - storeNow, ownEnd - DateTime.toEpochMillis(wall))
  if (left <= 0) return undefined
  const expiresAt = DateTime.addDuration(wall, Duration.millis(left))
  const requestedAt = DateTime.subtractDuration(expiresAt, Duration.millis(lifetimeMillis))
  const covered = granted.covered?.filter(Schema.is(AccessScope))
  return new AccessToken({ ...granted, covered, secret: Redacted.make(secret), expiresAt, requestedAt })
}

/** The failure as this process reports it, and until when it is shared. The wait that the server requested has partly passed. */
export const failureOf = (
  { failure }: Content,
  storeNow: number,
  wall: DateTime.Utc
): { readonly error: SharedFailure; readonly until: DateTime.Utc } | undefined => {
  if (failure === undefined || !Format.isAlive(failure, storeNow)) return undefined
  const { endsAt, error } = failure
  const left = Duration.millis(endsAt - storeNow)
  const until = DateTime.addDuration(wall, left)
  const known = { sharedUntil: until, nextTryAt: undefined }
  return {
    until,
    error: error._tag === "InvalidClient"
      ? new InvalidClient({ ...error, ...known })
      : new ServerError({ ...error, ...known, retryAfter: requestedMillis(error) > 0 ? left : undefined })
  }
}
