import { TokenError } from "@credit-data/core"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { HttpApiBuilder, HttpApiError, HttpClientResponse, HttpServerRequest, HttpTraceContext } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import { Consumer, ServiceApi } from "./api.ts"

const Found = HttpClientResponse.schemaBodyJson(Schema.Struct({ path: Schema.String }))

// What the callers of this service get. 503: the same request can succeed later. 500: it cannot, and the owners of this service
// have to act. A 401 or 403 of the API is never passed on, because a caller would take it for a problem with its own credentials.

const failed = <E>(why: string, error: E): Effect.Effect<never, E> =>
  Effect.zipRight(Effect.logError(`A call of Data Access failed: ${why}`), Effect.fail(error))

/**
 * There is no response. Only the tag is logged, because the token supply has logged why there is no token, and because
 * a platform error's message contains the path, and with it a consumer's id.
 */
const withoutResponse = (error: GroupClient.GroupClientError) =>
  failed(
    error._tag,
    error._tag === "InsufficientScope" || TokenError.isTokenError(error) && !error.retryable
      ? new HttpApiError.InternalServerError()
      : new HttpApiError.ServiceUnavailable()
  )

/** Calls Data Access. */
const read = Effect.fnUntraced(function*(client: GroupClient.GroupClient, id: string) {
  const response = yield* client.pipe(
    GroupClient.call("GET", "/data-access/consumers/{id}", { id }),
    Effect.catchAll(withoutResponse)
  )
  const { status } = response
  if (status === 404) return yield* new HttpApiError.NotFound()
  if (status === 429 || status >= 500) return yield* failed(`status ${status}`, new HttpApiError.ServiceUnavailable())
  const found = yield* Effect.option(Effect.flatMap(HttpClientResponse.filterStatusOk(response), Found))
  return Option.isSome(found)
    ? new Consumer({ id, path: found.value.path })
    : yield* failed(`status ${status}, or another body than expected`, new HttpApiError.InternalServerError())
})

/** A span for a request to a route. The platform's own span would show the path. */
const inSpanOf = (route: string) => <A, E, R>(handler: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    ({ headers, method }) =>
      Effect.withSpan(handler, `${method} ${route}`, {
        kind: "server",
        parent: Option.getOrUndefined(HttpTraceContext.fromHeaders(headers)),
        attributes: { "http.request.method": method, "http.route": route }
      })
  )

export const Consumers = HttpApiBuilder.group(
  ServiceApi,
  "consumers",
  (handlers) =>
    Effect.map(DataAccess.DataAccess, (client) =>
      handlers.handle("read", ({ path: { id } }) =>
        read(client, id).pipe(
          Effect.timeoutOption("10 seconds"),
          Effect.flatMap(Option.match({
            onNone: () => failed("it took more than 10 seconds", new HttpApiError.ServiceUnavailable()),
            onSome: Effect.succeed
          })),
          inSpanOf("/consumers/{id}")
        )))
)
