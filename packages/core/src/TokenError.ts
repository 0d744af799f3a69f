/**
 * The four ways in which a token request fails.
 *
 * @since 1.0.0
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Schema from "effect/Schema"
import * as advice from "./internal/advice.ts"
import * as failureText from "./internal/failureText.ts"
import { ownMessage } from "./internal/ownMessage.ts"
import { longestPauseAfter, shortestPause } from "./internal/pauses.ts"
import { transportReasons } from "./internal/transportReason.ts"

const fields = {
  /** The name of the environment. */
  environment: Schema.String,
  /** The id of the client for which the token was requested. Absent if the token endpoint has no client. */
  clientId: Schema.optional(Schema.String),
  /** The address of the token endpoint. */
  tokenEndpoint: Schema.String,
  /** More specific advice than the kind of failure gives, if there is any. The message contains it. */
  hint: Schema.optional(Schema.String),
  /** Before this time, only `refresh` sends a token request. Absent outside a supply. */
  nextTryAt: Schema.optional(Schema.DateTimeUtc)
}

const oauth = {
  // not `status`, with which web frameworks respond to your own callers
  /** The HTTP status of the token endpoint's response. */
  endpointStatus: Schema.Int,
  /** `error` of the response body, if it is text. It is shortened, and the client secret is replaced in it. */
  error: Schema.optional(Schema.String),
  /** `error_description` of the response body, if it is text. It is shortened, and the client secret is replaced in it. */
  description: Schema.optional(Schema.String),
  /** Another process of the fleet received this response, and shares it until then. Absent if this process received it. */
  sharedUntil: Schema.optional(Schema.DateTimeUtc)
}

/**
 * The token endpoint refused the client: any 401, or a 400 or 403 with the code `invalid_client` (service contract,
 * section 7). A retry with the same credentials cannot succeed.
 *
 * @since 1.0.0
 * @category errors
 */
export class InvalidClient extends ownMessage(
  Schema.TaggedError<InvalidClient>()(
    "InvalidClient",
    { ...fields, ...oauth }
  )
) {
  /**
   * Whether a retry can succeed: false.
   *
   * @since 1.0.0
   */
  get retryable(): boolean {
    return false
  }

  /**
   * What happened and what to do.
   *
   * @since 1.0.0
   */
  override readonly message: string = failureText.message(
    this,
    `refused the client: ${failureText.refusal(this)}`,
    advice.refused(this)
  )

  /**
   * What `JSON.stringify` and loggers print.
   *
   * @since 1.0.0
   */
  override toJSON(): object {
    return failureText.json(this)
  }
}

/**
 * The token endpoint returned a failure that is not about the client: any other 4xx or 5xx, except 407 (a `TransportError`), or
 * a 200 whose body is an OAuth error.
 *
 * @since 1.0.0
 * @category errors
 */
export class ServerError extends ownMessage(
  Schema.TaggedError<ServerError>()("ServerError", {
    ...fields,
    ...oauth,
    /** The wait that the response requested in `Retry-After`, limited to the longest pause. */
    retryAfter: Schema.optional(Schema.DurationFromMillis)
  })
) {
  /**
   * Whether a retry can succeed. True for 408, 409, 425, 429 and 5xx (other than 501 and 505), and for the codes `server_error`
   * and `temporarily_unavailable`.
   *
   * @since 1.0.0
   */
  get retryable(): boolean {
    return [408, 409, 425, 429].includes(this.endpointStatus) ||
      (this.endpointStatus >= 500 && this.endpointStatus !== 501 && this.endpointStatus !== 505) ||
      this.error === "server_error" || this.error === "temporarily_unavailable"
  }

  /**
   * What happened and what to do.
   *
   * @since 1.0.0
   */
  override readonly message: string = failureText.message(
    this,
    `returned an error: ${failureText.refusal(this)}`,
    advice.failedServer(this)
  )

  /**
   * What `JSON.stringify` and loggers print.
   *
   * @since 1.0.0
   */
  override toJSON(): object {
    return failureText.json(this)
  }
}

/**
 * The rules of the contract that a response can break.
 *
 * @since 1.0.0
 * @category schemas
 */
export const ResponseRule = Schema.Literal(
  "Redirect",
  "Status",
  "Size",
  "Encoding",
  "Utf8",
  "Json",
  "Object",
  "AccessToken",
  "TokenType",
  "ExpiresIn",
  "Scope",
  "Expired"
)

/**
 * The rule that a response broke.
 *
 * - `Redirect`: the status is a redirect, which is not followed.
 * - `Status`: the status is below 400, and is neither 200 nor a redirect.
 * - `Size`: the body is larger than 1 MiB after decompression.
 * - `Encoding`: the body does not fit its `Content-Encoding`.
 * - `Utf8`: the body is not UTF-8.
 * - `Json`: the body is not JSON.
 * - `Object`: the body is not a JSON object.
 * - `AccessToken`: `access_token` is missing or invalid.
 * - `TokenType`: `token_type` is missing, or is not `Bearer`.
 * - `ExpiresIn`: `expires_in` is invalid.
 * - `Scope`: `scope` is invalid.
 * - `Expired`: the token had already expired when it arrived.
 *
 * @since 1.0.0
 * @category models
 */
export type ResponseRule = typeof ResponseRule.Type

/**
 * The token endpoint's response is outside the contract: a status below 400 other than 200, or a 200 whose body breaks a
 * rule. The error does not contain the body.
 *
 * @since 1.0.0
 * @category errors
 */
export class InvalidResponse extends ownMessage(
  Schema.TaggedError<InvalidResponse>()(
    "InvalidResponse",
    {
      ...fields,
      /** The HTTP status of the token endpoint's response. */
      endpointStatus: Schema.Int,
      /** The rule that the response broke. */
      rule: ResponseRule
    }
  )
) {
  /**
   * Whether a retry can succeed. True only after `Expired`.
   *
   * @since 1.0.0
   */
  get retryable(): boolean {
    return this.rule === "Expired"
  }

  /**
   * What happened and what to do.
   *
   * @since 1.0.0
   */
  override readonly message: string = failureText.message(
    this,
    `returned a response outside the contract: ${this.endpointStatus}, ${failureText.brokenRule[this.rule]}`,
    advice.invalidResponse(this.rule)
  )

  /**
   * What `JSON.stringify` and loggers print.
   *
   * @since 1.0.0
   */
  override toJSON(): object {
    return failureText.json(this)
  }
}

/**
 * The reasons why no complete response arrived.
 *
 * @since 1.0.0
 * @category schemas
 */
export const TransportReason = Schema.Literal(
  "NameNotFound",
  "NameServiceFailed",
  "Refused",
  "Unreachable",
  "Reset",
  "Cut",
  "Garbled",
  "Tls",
  "ClientCertificate",
  "Proxy",
  "Timeout",
  "NotAllowed",
  "Closed",
  "Other"
)

/**
 * Why no complete response arrived.
 *
 * - `NameNotFound`: the host name does not resolve.
 * - `NameServiceFailed`: the name service failed, or did not respond.
 * - `Refused`: the connection was refused.
 * - `Unreachable`: the host cannot be reached.
 * - `Reset`: the connection ended before a response arrived.
 * - `Cut`: the connection ended in the middle of the response.
 * - `Garbled`: the response is not valid HTTP.
 * - `Tls`: TLS failed, usually in the handshake.
 * - `ClientCertificate`: the server requires a client certificate.
 * - `Proxy`: a forward proxy refused the connection, or cannot be reached.
 * - `Timeout`: no complete response arrived within the deadline, or within a timeout of the transport.
 * - `NotAllowed`: your own HttpClient changed the token request so that it cannot be sent, such as its address or a header.
 * - `Closed`: the layer was closed.
 * - `Other`: the transport reported no known reason.
 *
 * @since 1.0.0
 * @category models
 */
export type TransportReason = typeof TransportReason.Type

/**
 * No complete response arrived from the token endpoint.
 *
 * @since 1.0.0
 * @category errors
 */
export class TransportError extends ownMessage(
  Schema.TaggedError<TransportError>()(
    "TransportError",
    {
      ...fields,
      /** Why no complete response arrived. */
      reason: TransportReason,
      /** The time limit that passed (`Timeout`), if it was not a time limit of the transport. */
      deadline: Schema.optional(Schema.DurationFromMillis),
      /** The forward proxy that failed (`Proxy`), if it is known. */
      proxy: Schema.optional(Schema.String),
      /** The status with which the forward proxy refused the connection (`Proxy`). */
      proxyStatus: Schema.optional(Schema.Int)
    }
  )
) {
  /**
   * Whether a retry can succeed. False for `Tls`, `ClientCertificate`, `NotAllowed` and `Closed`, and for a `proxyStatus` below 500.
   *
   * @since 1.0.0
   */
  get retryable(): boolean {
    return this.reason === "Proxy"
      ? this.proxyStatus === undefined || this.proxyStatus >= 500
      : transportReasons[this.reason].lasts !== true
  }

  /**
   * What happened and what to do.
   *
   * @since 1.0.0
   */
  override readonly message: string = failureText.message(
    this,
    failureText.noResponse(this),
    advice.transport(this.reason, "the authorization server", "the address")
  )

  /**
   * What `JSON.stringify` and loggers print.
   *
   * @since 1.0.0
   */
  override toJSON(): object {
    return failureText.json(this)
  }
}

/**
 * The four failures of a token request, as a Schema. For logs, and to pass failures between processes.
 *
 * @since 1.0.0
 * @category schemas
 */
export const TokenError = Schema.Union(InvalidClient, ServerError, InvalidResponse, TransportError)

/**
 * The four failures of a token request. The message states what happened and what to do. The client secret and tokens are replaced
 * in the server's texts.
 *
 * @since 1.0.0
 * @category errors
 */
export type TokenError = typeof TokenError.Type

/**
 * Returns whether a value is one of the four failures of a token request.
 *
 * @since 1.0.0
 * @category guards
 */
export const isTokenError = (u: unknown): u is TokenError => Schema.is(TokenError)(u)

/** A timer may fire a few milliseconds early. */
const early = 5
const untilNextTry = (error: TokenError) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const wait = error.nextTryAt !== undefined
      ? Math.max(0, DateTime.toEpochMillis(error.nextTryAt) - now + early)
      : error._tag === "ServerError" && error.retryAfter !== undefined
      ? Math.max(shortestPause, Duration.toMillis(error.retryAfter))
      // outside a supply, only this wait protects the endpoint from too many requests
      : shortestPause
    // a clock that was set back must not cause a wait of hours
    return Duration.millis(
      Math.min(wait, longestPauseAfter(error._tag === "ServerError" ? error.endpointStatus : undefined))
    )
  })

/**
 * Retries an effect after a retryable `TokenError`. It waits until the supply's next attempt (`nextTryAt`) or, outside a supply, for the
 * response's `Retry-After` and at least 1 second. The last failure, and any other failure, is returned immediately.
 *
 * @since 1.0.0
 * @category combinators
 * @example
 * ```ts
 * import { AccessTokens, TokenError } from "@credit-data/core"
 * import { Effect } from "effect"
 *
 * export const patient = Effect.flatMap(AccessTokens.AccessTokens, (tokens) => tokens.get).pipe(
 *   TokenError.retryWhenDue({ times: 3 })
 * )
 * ```
 */
export const retryWhenDue: {
  (options: {
    /** The maximum number of retries. */
    readonly times: number
  }): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, options: { readonly times: number }): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, options: { readonly times: number }): Effect.Effect<A, E, R> =>
    Effect.catchAll(self, (error) =>
      options.times > 0 && isTokenError(error) && error.retryable
        ? untilNextTry(error).pipe(
          Effect.flatMap(Effect.sleep),
          Effect.zipRight(retryWhenDue(self, { times: options.times - 1 }))
        )
        : Effect.fail(error))
)
