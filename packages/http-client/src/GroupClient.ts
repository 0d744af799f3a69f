/**
 * What the clients of the three endpoint groups have in common, and the constructor of a client for other paths.
 *
 * @since 1.0.0
 */
import type * as AccessScope from "@credit-data/core/AccessScope"
import type * as AccessTokens from "@credit-data/core/AccessTokens"
import type * as TokenError from "@credit-data/core/TokenError"
import { Transport } from "@credit-data/core/Internal"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { InsufficientScope } from "./InsufficientScope.ts"
import * as authenticatedClient from "./internal/authenticatedClient.ts"
import { withoutToken } from "./internal/callerError.ts"
import { PathTemplate } from "./internal/pathTemplate.ts"

/**
 * The errors of a call: an error of the HttpClient, a missing token, or a missing scope.
 *
 * @since 1.0.0
 * @category errors
 */
export type GroupClientError = HttpClientError.HttpClientError | TokenError.TokenError | InsufficientScope

/**
 * An HttpClient whose requests go to one endpoint group, each with a token.
 *
 * - A relative URL is appended to the base URL of the environment, including the path of the base URL. An absolute URL must
 *   have the same origin. Any other URL fails with a `RequestError` (`InvalidUrl`), and nothing is sent.
 * - After a 401 the client replaces the token and sends the request again once, if the body can be sent twice. Without a
 *   replacement the caller gets the 401. The caller gets every other status unchanged, including a redirect.
 * - A connection can be reset before a response arrives, because a server or firewall closed it while it was idle. In this
 *   case, a GET, HEAD or OPTIONS, and any request with an `Idempotency-Key`, is sent again up to three times, if its body is not
 *   a stream. Over all calls of a client, there are never more such resends than first sends within a few seconds.
 * - `host` and the headers of a connection, such as `connection` and `transfer-encoding`, are dropped. An upgrade remains.
 * - A request that already has an `Authorization` header keeps it. No token is added, no scope is checked, and a 401 starts no
 *   renewal.
 * - No request, response or error that a caller gets contains the token. Of an underlying error, only name, message and code
 *   remain.
 * - There is no deadline: use `Effect.timeout`.
 *
 * @since 1.0.0
 * @category models
 */
export interface GroupClient extends HttpClient.HttpClient.With<GroupClientError> {}

/**
 * The optional settings of the client of a group. Each has a default.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings {
  /** Wraps the HttpClient that sends the requests. These requests contain the token. */
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
  /** Send trace headers to the business API, which belongs to a third party. Default: false. */
  readonly propagateTrace?: boolean | undefined
}

/**
 * The options of a client.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends Settings {
  /** The name of the endpoint group. It appears on the span of a call and in errors. */
  readonly name: string
  /** The scope that a token must cover before it is sent. Default: none, so the server decides. */
  readonly scope?: AccessScope.AccessScope | undefined
}

/**
 * A client for paths that belong to none of the three endpoint groups. Its tokens and its base URL come from the supply.
 *
 * Fails with a `ConfigError` if the supply does not request the scope, or if its base URL is not valid.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { GroupClient } from "@credit-data/http-client"
 * import { Context, Layer } from "effect"
 *
 * class Reports extends Context.Tag("my-service/Reports")<Reports, GroupClient.GroupClient>() {}
 *
 * export const ReportsLive = Layer.effect(Reports, GroupClient.make({ name: "Reports", scope: "data-access:all" }))
 * ```
 */
export const make: (
  options: Options
) => Effect.Effect<GroupClient, ConfigError.ConfigError, AccessTokens.AccessTokens | HttpClient.HttpClient> =
  authenticatedClient.make

/**
 * Sets the path template of a call, or of all calls of a client, such as `/consumers/{id}`. It appears on the span of a call, in
 * its name and as `url.template`. Traces can then be grouped by it, and they contain no personal data. Default: none.
 *
 * @since 1.0.0
 * @category combinators
 * @example
 * ```ts
 * import { DataAccess, GroupClient } from "@credit-data/http-client"
 * import { HttpClient } from "@effect/platform"
 * import { Effect } from "effect"
 *
 * // one call
 * export const consumer = Effect.fn(function*(id: string) {
 *   const client = yield* DataAccess.DataAccess
 *   return yield* client.get(`/consumers/${id}`).pipe(GroupClient.withPathTemplate("/consumers/{id}"))
 * })
 *
 * // all calls of a client
 * export const consumers = Effect.map(
 *   DataAccess.DataAccess,
 *   HttpClient.transformResponse(GroupClient.withPathTemplate("/consumers/{id}"))
 * )
 * ```
 */
export const withPathTemplate =
  (template: `/${string}`) => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(call, PathTemplate, Option.some(template))

/**
 * The client as a plain `HttpClient`, for APIs that expect one. A missing token or a missing scope becomes a `RequestError`
 * with the original error as its cause. Its reason is `Transport` if a retry can help, and `Encode` if not.
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
