import { AccessToken } from "@credit-data/core/AccessToken"
import { InvalidClient, ServerError, type TokenError } from "@credit-data/core/TokenError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { decodeJson } from "./json.ts"

// The texts in the envelopes. They hold lifetimes and no instants, because the clocks of the processes differ.

const Token = Schema.Struct({
  secret: Schema.String,
  scopes: Schema.Array(Schema.String),
  coverage: Schema.Literal("GrantedScopes", "AnyScope"),
  lifetimeMillis: Schema.Number
})

/** A failure that other processes would get too. */
export type SharedFailure = InvalidClient | ServerError

/** The secret of the client was rotated, so its tokens have another entry now. */
export const rotated = "Rotated"

/** A text, and how long it counts. */
export interface Content {
  readonly text: string
  /** In milliseconds. */
  readonly timeToLive: number
}

const Failure = Schema.Union(
  Schema.Struct({ _tag: Schema.Literal(rotated), lifetimeMillis: Schema.Number }),
  Schema.Struct({
    _tag: Schema.Literal("InvalidClient", "ServerError"),
    status: Schema.Int,
    error: Schema.optional(Schema.String),
    description: Schema.optional(Schema.String),
    hint: Schema.optional(Schema.String),
    /** Whether the server asked for a wait. */
    retryAfter: Schema.Boolean,
    /** How long the failure is shared. It is sealed, because the time to live in the store can be changed. */
    lifetimeMillis: Schema.Number
  })
)

/** The milliseconds of a token's whole life. */
const lifetimeOf = ({ expiresAt, requestedAt }: AccessToken): number =>
  DateTime.toEpochMillis(expiresAt) - DateTime.toEpochMillis(requestedAt)

export const encodeToken = (token: AccessToken, now: DateTime.Utc): Content => ({
  text: JSON.stringify(
    {
      secret: Redacted.value(token.secret),
      scopes: token.scopes,
      coverage: token.coverage,
      lifetimeMillis: lifetimeOf(token)
    } satisfies typeof Token.Type
  ),
  timeToLive: DateTime.toEpochMillis(token.expiresAt) - DateTime.toEpochMillis(now)
})

/** A token with this remaining life. It expires on the clock of this process, `remaining` after `readAt`. */
export const decodeToken =
  (readAt: DateTime.Utc, remaining: Duration.Duration) => (text: string): Option.Option<AccessToken> =>
    Option.map(decodeJson(Token)(text), ({ coverage, lifetimeMillis, scopes, secret }) => {
      const expiresAt = DateTime.addDuration(
        readAt,
        Duration.millis(Math.min(Duration.toMillis(remaining), lifetimeMillis))
      )
      return new AccessToken({
        secret: Redacted.make(secret),
        scopes,
        coverage,
        expiresAt,
        requestedAt: DateTime.subtractDuration(expiresAt, Duration.millis(lifetimeMillis)),
        shared: true
      })
    })

export const isShared = (error: TokenError): error is SharedFailure =>
  error._tag === "InvalidClient" || error._tag === "ServerError"

/** A failure is shared for a second, or as long as `Retry-After` says. */
export const encodeFailure = (failure: SharedFailure): Content => {
  const { _tag, description, error, hint, status } = failure
  const asked = failure._tag === "ServerError" ? Duration.toMillis(failure.retryAfter ?? Duration.zero) : 0
  const lifetimeMillis = Math.max(asked, 1_000)
  return {
    text: JSON.stringify({ _tag, status, error, description, hint, retryAfter: asked > 0, lifetimeMillis }),
    timeToLive: lifetimeMillis
  }
}

export const encodeRotated = (lifetimeMillis: number): Content => ({
  text: JSON.stringify({ _tag: rotated, lifetimeMillis }),
  timeToLive: lifetimeMillis
})

/** The failure as this process reports it. The wait that the server asked for has partly passed. */
export const decodeFailure = (
  where: { readonly environment: string; readonly tokenEndpoint: string },
  remaining: Duration.Duration
) =>
(text: string): Option.Option<SharedFailure | typeof rotated> =>
  decodeJson(Failure)(text).pipe(
    Option.filter(({ lifetimeMillis }) => Duration.toMillis(remaining) <= lifetimeMillis),
    Option.map((failure) => {
      if (failure._tag === rotated) return rotated
      const { _tag, lifetimeMillis: _, retryAfter, ...answer } = failure
      const shared = { ...answer, ...where, shared: true }
      return _tag === "InvalidClient"
        ? new InvalidClient(shared)
        : new ServerError({ ...shared, retryAfter: retryAfter ? remaining : undefined })
    })
  )
