/**
 * What the clients of the three endpoint groups have in common, and the constructor of a client for other paths.
 *
 * @since 1.0.0
 */
import type * as AccessScope from "@credit-data/core/AccessScope"
import type * as AccessToken from "@credit-data/core/AccessToken"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { HttpError, Instant, opaque, restrictedClient, sharedLayer, Transport } from "@credit-data/core/Internal"
import type * as TokenError from "@credit-data/core/TokenError"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as HttpMethod from "@effect/platform/HttpMethod"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Cause from "effect/Cause"
import type * as ConfigError from "effect/ConfigError"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import { dual, identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Tracer from "effect/Tracer"
import type { InsufficientScope } from "./InsufficientScope.ts"
import { resultFor } from "./internal/callerView.ts"
import { framed } from "./internal/framing.ts"
import { makeGroup } from "./internal/group.ts"
import { expand, refusedValues } from "./internal/path.ts"
import { canBeSentAgain, isClosedConnection, release } from "./internal/resend.ts"
import { makeInSpan, PathTemplate } from "./internal/span.ts"

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
 *   begin with the base URL. Any other URL, and a path with a segment `..`, even if it is encoded, fails with a `RequestError`
 *   (`InvalidUrl`), and nothing is sent.
 * - After a 401 the client reports the token and sends the request again with a token that this call has not tried, if the body can be
 *   sent again. If no other token is left, the caller gets the 401. Other statuses, such as a redirect, are responses too.
 * - A connection can be reset before a response arrives, because a server or firewall closed it while it was idle. In this
 *   case, a GET, HEAD or OPTIONS, and any request with an `Idempotency-Key`, is sent again up to three times, if its body is not
 *   a stream. A client's retries are limited to the number of its recent first attempts, or three.
 * - `host` and the headers of a connection, such as `connection`, `transfer-encoding` and `upgrade`, are dropped. `User-Agent` is
 *   `credit-data/VERSION`, unless the request has one.
 * - A header that cannot be sent fails with a `RequestError` (`Encode`) that names the header, and nothing is sent.
 * - A `DELETE`, `GET`, `HEAD` or `OPTIONS` whose body has no known length, such as a stream without one, fails with a `RequestError`
 *   (`Encode`), and nothing is sent.
 * - If the stream of a body fails, or is not as long as its declared length, the call fails with a `RequestError` (`Encode`). The API
 *   may have received a part of the body, but no complete request.
 * - A request that already has an `Authorization` header keeps it. No token is added, no scope is checked, and a 401 is not
 *   reported.
 * - Read the body of a response in one way only: as a stream, or with `text`, `json` and so on.
 * - The request in a response or error that a caller gets does not contain the token. Of an underlying error, name, message and code
 *   remain.
 * - There is no deadline: use `Effect.timeout`.
 *
 * @since 1.0.0
 * @category models
 */
export interface GroupClient<out Name extends string = string> extends HttpClient.HttpClient.With<GroupClientError> {
  /** The name of the endpoint group. */
  readonly group: Name
}

/**
 * The optional settings of the client of a group.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings {
  /** Wraps the HttpClient that sends the requests. These requests contain the token. */
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
  /** Sends trace headers to the business API, which belongs to a third party. Default: false. */
  readonly propagateTrace?: boolean | undefined
}

/**
 * The options of a client.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options<Name extends string = string> extends Settings {
  /** The name of the endpoint group. It appears on the span of a call and in metrics. */
  readonly name: Name
  /** The scope that a token must cover before it is sent. Default: none, so the server decides. */
  readonly scope?: AccessScope.AccessScope | undefined
}

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse

/**
 * A client for paths that belong to none of the three endpoint groups. Its tokens and its base URL come from the supply.
 *
 * For a client under a tag of its own, use `layer`, which is safe for several tenants. For your layers over it, wrap the
 * whole layer of each tenant in `Layer.fresh`.
 *
 * Fails with a `ConfigError` if the supply requests scopes and this one is not among them, or if its base URL is not valid.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { GroupClient } from "@credit-data/http-client"
 * import { Context } from "effect"
 *
 * class Reports extends Context.Tag("my-service/Reports")<Reports, GroupClient.GroupClient<"Reports">>() {}
 *
 * // not a const of Layer.effect(Reports, GroupClient.make(…)), which Effect would build once for several tenants
 * export const ReportsLive = GroupClient.layer(Reports, { name: "Reports", scope: "data-access:all" })
 * ```
 */
export const make: <const Name extends string>(
  options: Options<Name>
) => Effect.Effect<GroupClient<Name>, ConfigError.ConfigError, AccessTokens.AccessTokens | HttpClient.HttpClient> =
  Effect.fnUntraced(function*<Name extends string>(
    { name, propagateTrace, scope, transformClient = identity }: Options<Name>
  ): Effect.fn.Return<GroupClient<Name>, ConfigError.ConfigError, AccessTokens.AccessTokens | HttpClient.HttpClient> {
    const group = yield* makeGroup({ name, scope })
    const { baseUrl, clock, tokens } = group
    const { origin } = baseUrl
    const anyPath = `${origin}/`
    const client = transformClient(restrictedClient(yield* HttpClient.HttpClient, {
      isAllowed: (url) => url.startsWith(anyPath) || (URL.canParse(url) && new URL(url).origin === origin),
      framed
    }))
    const inSpan = makeInSpan(group)

    /** One call: each round sends the request, and returns its result unless there is a reason to send it again. */
    const call = Effect.fnUntraced(function*(
      request: Request,
      span: Tracer.Span | undefined
    ): Effect.fn.Return<Response, GroupClientError> {
      const attempts = group.begin()
      let waitedMillis = 0
      const waiting = Effect.fnUntraced(function*(
        token: Effect.Effect<AccessToken.AccessToken, TokenError.TokenError>
      ): Effect.fn.Return<AccessToken.AccessToken, TokenError.TokenError> {
        const since = Instant.monotonicMillis(clock)
        const outcome = yield* Effect.exit(token)
        waitedMillis += Instant.monotonicMillis(clock) - since
        span?.attribute("credit_data.token.wait_duration", waitedMillis / 1_000)
        return yield* outcome
      })

      // a request with its own header is sent as it is
      let token = "authorization" in request.headers ? undefined : yield* waiting(tokens.get)
      for (let resends = 0;; resends++) {
        const uncovered = token && group.uncovered(token, resends > 0)
        if (uncovered !== undefined) return yield* uncovered
        if (resends > 0) span?.attribute("http.request.resend_count", resends)
        const sent = token === undefined ? request : HttpClientRequest.bearerToken(request, token.secret)
        // a client that throws would otherwise die with the request in its hands
        const exit = yield* Effect.exit(Effect.suspend(() => client.execute(sent)))
        const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
        // a client can turn a status into an error
        const response = Exit.isSuccess(exit) ? exit.value : Transport.isStatusError(error) ? error.response : undefined
        const result = (body?: Response) => resultFor({ request, token }, exit, body)
        if (response === undefined) {
          if (!isClosedConnection(error, request) || !attempts.mayResend()) return yield* result()
          // one turn of the event loop, in which the transport detects its other closed connections
          yield* Effect.sleep(0)
          // the token may have expired or been replaced while the call waited for a response
          if (token !== undefined) token = yield* waiting(tokens.get)
          continue
        }
        if (response.status !== 401 || token === undefined) return yield* result()
        if (!attempts.mayTryAnother() || !canBeSentAgain(request.body)) {
          yield* tokens.invalidate(token)
          return yield* result()
        }
        // an unread response keeps its connection, which may be the one that the token request waits for
        const body = yield* release(response)
        const next = Option.getOrUndefined(yield* Effect.option(waiting(tokens.replace(token, ...attempts.rejected))))
        attempts.rejected.push(token)
        if (next === undefined || attempts.hasTried(next)) return yield* result(body())
        token = next
        span?.attribute("credit_data.token.replaced", true)
      }
    })

    const execute = (original: Request) =>
      Either.match(group.target(original.url), {
        onLeft: (description) => Effect.fail(HttpError.requestError("InvalidUrl", { request: original, description })),
        onRight: (url) => {
          const request = HttpClientRequest.removeHash(HttpClientRequest.setUrl(original, url))
          return inSpan(request, (span) =>
            call(
              propagateTrace === true && span !== undefined
                ? HttpClientRequest.setHeaders(request, HttpTraceContext.toHeaders(span))
                : request,
              span
            ))
        }
      })
    return Object.assign(opaque(execute), { group: name })
  })

/**
 * The layer of a client for paths that belong to none of the three endpoint groups, under its own tag.
 *
 * Building the layer fails like `make`.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { GroupClient } from "@credit-data/http-client"
 * import { Context } from "effect"
 *
 * class Reports extends Context.Tag("my-service/Reports")<Reports, GroupClient.GroupClient<"Reports">>() {}
 *
 * export const ReportsLive = GroupClient.layer(Reports, { name: "Reports", scope: "data-access:all" })
 * ```
 */
export const layer = <I, const Name extends string>(
  tag: Context.Tag<I, GroupClient<Name>>,
  options: Options<Name>
): Layer.Layer<I, ConfigError.ConfigError, AccessTokens.AccessTokens | HttpClient.HttpClient> =>
  sharedLayer(() => Layer.effect(tag, make(options)), { services: [AccessTokens.AccessTokens, HttpClient.HttpClient] })

type Names<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest>
  : never

/**
 * The values of a path template: one for each name in it.
 *
 * @since 1.0.0
 * @category models
 */
export type Values<Template extends string> = [Names<Template>] extends [never] ? Readonly<Record<string, never>>
  : { readonly [Name in Names<Template>]: string | number }

/**
 * Calls a path that contains values, such as the id of a consumer. Each value is encoded. The template appears on the span of the call and
 * in metrics, as after `withPathTemplate`.
 *
 * With an empty value, or one that would make its segment `.` or `..`, nothing is sent, and the call fails with a `RequestError`
 * (`InvalidUrl`) that does not show the value.
 *
 * @since 1.0.0
 * @category combinators
 * @example
 * ```ts
 * import { DataAccess, GroupClient } from "@credit-data/http-client"
 * import { Effect } from "effect"
 *
 * export const consumer = Effect.fn(function*(id: string) {
 *   const dataAccess = yield* DataAccess.DataAccess
 *   const response = yield* dataAccess.pipe(GroupClient.call("GET", "/data-access/consumers/{id}", { id }))
 *   return yield* response.json
 * })
 * ```
 */
export const call: {
  <const Template extends `/${string}`>(
    method: HttpMethod.HttpMethod,
    template: Template,
    values: Values<Template>,
    options?: HttpClientRequest.Options.NoUrl
  ): <E, R>(
    client: HttpClient.HttpClient.With<E, R>
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, E | HttpClientError.RequestError, R>
  <E, R, const Template extends `/${string}`>(
    client: HttpClient.HttpClient.With<E, R>,
    method: HttpMethod.HttpMethod,
    template: Template,
    values: Values<Template>,
    options?: HttpClientRequest.Options.NoUrl
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, E | HttpClientError.RequestError, R>
} = /* @__PURE__ */ dual( // so that a program without it does not bundle it
  (args) => !Predicate.isString(args[0]),
  <E, R>(
    client: HttpClient.HttpClient.With<E, R>,
    method: HttpMethod.HttpMethod,
    template: `/${string}`,
    values: Readonly<Record<string, string | number>>,
    options?: HttpClientRequest.Options.NoUrl
  ): Effect.Effect<Response, E | HttpClientError.RequestError, R> => {
    const request = HttpClientRequest.make(method)(template, options)
    return Either.match(expand(template, values), {
      onLeft: (segment) =>
        Effect.fail(HttpError.requestError("InvalidUrl", { request, description: refusedValues(segment) })),
      onRight: (url) => withPathTemplate(template)(client.execute(HttpClientRequest.setUrl(request, url)))
    })
  }
)

/**
 * Sets the path template of calls whose path another library makes, such as `HttpApiClient`. It appears in the name of a call's span, and as
 * `url.template` on the span and in metrics. Do not put values into it. `GroupClient.call` sets it itself.
 *
 * @since 1.0.0
 * @category combinators
 * @example
 * ```ts
 * import { DataAccess, GroupClient } from "@credit-data/http-client"
 * import { Effect } from "effect"
 *
 * export const report = Effect.gen(function*() {
 *   const dataAccess = yield* DataAccess.DataAccess
 *   return yield* dataAccess.get("/data-access/reports/42").pipe(
 *     GroupClient.withPathTemplate("/data-access/reports/{id}")
 *   )
 * })
 * ```
 */
export const withPathTemplate =
  (template: `/${string}`) => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(call, PathTemplate, Option.some(template))

/**
 * The client as a plain `HttpClient`, for APIs that expect one. A missing token or a missing scope becomes a `RequestError`
 * with the original error as its cause. Its reason is `Transport` if a retry can help, and `Encode` if not.
 *
 * For several tenants, make its layer in a function, and wrap the whole layer of each tenant in `Layer.fresh`, because Effect would build a
 * const once for all of them.
 *
 * @since 1.0.0
 * @category conversions
 * @example
 * ```ts
 * import { DataAccess, GroupClient } from "@credit-data/http-client"
 * import { HttpClient } from "@effect/platform"
 * import { Effect, Layer } from "effect"
 *
 * export const plainClient = () =>
 *   Layer.effect(HttpClient.HttpClient, Effect.map(DataAccess.DataAccess, GroupClient.toHttpClient))
 * ```
 */
export const toHttpClient = (client: GroupClient): HttpClient.HttpClient =>
  opaque((request) =>
    Effect.mapError(client.execute(request), (error) =>
      HttpClientError.isHttpClientError(error)
        ? error
        : HttpError.requestError(error._tag !== "InsufficientScope" && error.retryable ? "Transport" : "Encode", {
          request,
          cause: error,
          description: error.message
        }))
  )
