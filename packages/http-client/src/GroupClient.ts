/**
 * What the clients of the three endpoint groups have in common.
 *
 * @since 1.0.0
 */
import type * as TokenError from "@credit-data/core/TokenError"
import * as Transport from "@credit-data/core/Transport"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as Effect from "effect/Effect"
import type { InsufficientScope } from "./InsufficientScope.ts"
import { withoutToken } from "./internal/callerError.ts"

/**
 * Why a call fails: as any HttpClient does, for want of a token, or for want of a scope.
 *
 * @since 1.0.0
 * @category errors
 */
export type GroupClientError = HttpClientError.HttpClientError | TokenError.TokenError | InsufficientScope

/**
 * An HttpClient whose requests go to one endpoint group, each with a token.
 *
 * - A relative URL is taken beneath the base URL of the environment, whose path is kept. An absolute one must have the
 *   same origin. Anything else fails with a `RequestError` (`InvalidUrl`) before it is sent.
 * - After a 401 the token that was sent is replaced, and the request is sent again once, if its body can be. The caller gets the
 *   401 when there is no other token. Every other status comes back as it is, a redirect too.
 * - A GET, HEAD or OPTIONS, and any request with an `Idempotency-Key`, is sent again once when its connection was reset before an
 *   answer: a server may have closed it while it was idle.
 * - A request that has an `Authorization` header of its own keeps it: no token, no check of scopes, no renewal.
 * - No request, response or error that a caller gets holds the token. Of the errors beneath, name, message and code remain.
 * - There is no deadline: use `Effect.timeout`.
 *
 * @since 1.0.0
 * @category models
 */
export interface GroupClient extends HttpClient.HttpClient.With<GroupClientError> {}

/**
 * What can be set of a group's client. All of it has a default.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings {
  /** Wraps the HttpClient that sends the requests. What it sees holds the token. */
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
  /** Send trace headers to the business API, which belongs to a third party. Default: false. */
  readonly propagateTrace?: boolean | undefined
}

/**
 * The client as a plain `HttpClient`, for APIs that ask for one: a failure for want of a token or a scope becomes a
 * `RequestError` with that failure as its cause. Its reason is `Transport` where a retry may help, and `Encode` where not.
 *
 * @since 1.0.0
 * @category conversions
 * @example
 * ```ts
 * import { DataAccess, GroupClient } from "@credit-data/http-client"
 * import { HttpClient } from "@effect/platform"
 * import { Effect, Layer } from "effect"
 *
 * export const PlainClient = Layer.effect(
 *   HttpClient.HttpClient,
 *   Effect.map(DataAccess.DataAccess, GroupClient.toHttpClient)
 * )
 * ```
 */
export const toHttpClient = (client: GroupClient): HttpClient.HttpClient =>
  Transport.opaque((request) =>
    Effect.mapError(client.execute(request), (error) =>
      HttpClientError.isHttpClientError(error)
        ? error
        : withoutToken(request, error))
  )
