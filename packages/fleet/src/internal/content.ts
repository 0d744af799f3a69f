import { AccessToken } from "@credit-data/core/AccessToken"
import { InvalidClient, ServerError, type TokenError } from "@credit-data/core/TokenError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { decodeJson } from "./json.ts"

// The texts in the envelopes. They contain the lifetime, and its end by the clock of the process that publishes. The store counts
// time too. All of these clocks can be set, so the earliest end counts.

const Token = Schema.Struct({
  secret: Schema.String,
  scopes: Schema.Array(Schema.String),
  coverage: Schema.Literal("GrantedScopes", "AnyScope"),
  lifetimeMillis: Schema.Number,
  expiresAt: Schema.Number
})

/** A failure that other processes would get too. */
export type SharedFailure = InvalidClient | ServerError

/** The secret of the client was rotated, so its tokens have another entry now. */
export const rotated = "Rotated"

/** Times by clocks that agree differ by at most this, because they are rounded, and run at different speeds. */
const roundingMillis = 1_000

/** Clocks that are kept in step differ by less than this. */
export const toleranceMillis = 5_000

const Failure = Schema.Union(
  Schema.Struct({ _tag: Schema.Literal(rotated), lifetimeMillis: Schema.Number, expiresAt: Schema.Number }),
  Schema.Struct({
    _tag: Schema.Literal("InvalidClient", "ServerError"),
    status: Schema.Int,
    error: Schema.optional(Schema.String),
    description: Schema.optional(Schema.String),
    hint: Schema.optional(Schema.String),
    /** Whether the server requested a wait. */
    retryAfter: Schema.Boolean,
    /** How long the failure is shared. It is sealed, because the time to live in the store can be changed. */
    lifetimeMillis: Schema.Number,
    expiresAt: Schema.Number
  })
)

/** The milliseconds of a token's whole life. */
export const lifetimeOf = ({ expiresAt, requestedAt }: AccessToken): number =>
  DateTime.toEpochMillis(expiresAt) - DateTime.toEpochMillis(requestedAt)

export const encodeToken = (token: AccessToken): string =>
  JSON.stringify(
    {
      secret: Redacted.value(token.secret),
      scopes: token.scopes,
      coverage: token.coverage,
      lifetimeMillis: lifetimeOf(token),
      expiresAt: DateTime.toEpochMillis(token.expiresAt)
    } satisfies typeof Token.Type
  )

/** A token that was read at this wall time, with the remaining life that the store counts. */
export const decodeToken =
  (readAt: DateTime.Utc, remaining: Duration.Duration) =>
  (text: string): Option.Option<{ readonly token: AccessToken; readonly skewMillis: number }> =>
    decodeJson(Token)(text).pipe(
      // the clock of the store was set back, or the value was written again
      Option.filter(({ lifetimeMillis }) => Duration.toMillis(remaining) <= lifetimeMillis + roundingMillis),
      Option.map(({ coverage, expiresAt, lifetimeMillis, scopes, secret }) => {
        const endOfStore = DateTime.toEpochMillis(readAt) + Duration.toMillis(remaining)
        const end = DateTime.unsafeMake(Math.min(endOfStore, expiresAt))
        return {
          token: new AccessToken({
            secret: Redacted.make(secret),
            scopes,
            coverage,
            expiresAt: end,
            requestedAt: DateTime.subtractDuration(end, Duration.millis(lifetimeMillis)),
            shared: true
          }),
          skewMillis: endOfStore - expiresAt
        }
      })
    )

export const isShared = (error: TokenError): error is SharedFailure =>
  error._tag === "InvalidClient" || error._tag === "ServerError"

/** A failure is shared for a second, or for the duration of `Retry-After`. */
export const lifetimeOfFailure = (failure: SharedFailure): number => Math.max(askedMillis(failure), 1_000)

const askedMillis = (failure: SharedFailure): number =>
  failure._tag === "ServerError" ? Duration.toMillis(failure.retryAfter ?? Duration.zero) : 0

export const encodeFailure = (failure: SharedFailure, now: DateTime.Utc): string => {
  const { _tag, description, error, hint, status } = failure
  const lifetimeMillis = lifetimeOfFailure(failure)
  return JSON.stringify({
    _tag,
    status,
    error,
    description,
    hint,
    retryAfter: askedMillis(failure) > 0,
    lifetimeMillis,
    expiresAt: DateTime.toEpochMillis(now) + lifetimeMillis
  })
}

/** The mark ends with the token of the next secret. */
export const encodeRotated = (token: AccessToken): string =>
  JSON.stringify({
    _tag: rotated,
    lifetimeMillis: lifetimeOf(token),
    expiresAt: DateTime.toEpochMillis(token.expiresAt)
  })

/** The failure as this process reports it. The wait that the server requested has partly passed. */
export const decodeFailure = (
  where: { readonly environment: string; readonly tokenEndpoint: string },
  readAt: DateTime.Utc,
  remaining: Duration.Duration
) =>
(text: string): Option.Option<SharedFailure | typeof rotated> =>
  decodeJson(Failure)(text).pipe(
    Option.filter(({ expiresAt, lifetimeMillis }) =>
      Duration.toMillis(remaining) <= lifetimeMillis &&
      DateTime.toEpochMillis(readAt) < expiresAt + toleranceMillis
    ),
    Option.map((failure) => {
      if (failure._tag === rotated) return rotated
      const { _tag, expiresAt: _, lifetimeMillis: __, retryAfter, ...response } = failure
      const shared = { ...response, ...where, shared: true }
      return _tag === "InvalidClient"
        ? new InvalidClient(shared)
        : new ServerError({ ...shared, retryAfter: retryAfter ? remaining : undefined })
    })
  )
