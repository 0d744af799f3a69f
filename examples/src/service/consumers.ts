import { TokenError } from "@credit-data/core"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { HttpApiBuilder, HttpApiError, HttpClientResponse, HttpServerRequest, HttpTraceContext } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import { Consumer, ServiceApi } from "./api.ts"

const Found = HttpClientResponse.schemaBodyJson(Schema.Struct({ path: Schema.String }))

/** Calls Data Access. The path of the call holds the id of a consumer, so the span shows the template in its place. */
const read = Effect.fnUntraced(function*(client: GroupClient.GroupClient, id: string) {
  const response = yield* client.get(`/data-access/consumers/${id}`).pipe(
    GroupClient.withPathTemplate("/data-access/consumers/{id}")
  )
  if (response.status === 404) return yield* new HttpApiError.NotFound()
  const { path } = yield* Effect.flatMap(HttpClientResponse.filterStatusOk(response), Found)
  return new Consumer({ id, path })
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
          Effect.timeout("10 seconds"),
          Effect.catchIf(
            (error) => error._tag !== "NotFound",
            (error) =>
              // the message of an error of the platform holds the path, and so the id of a consumer
              Effect.zipRight(
                Effect.logError(
                  `A call of Data Access failed: ${TokenError.isTokenError(error) ? error.message : error._tag}`
                ),
                new HttpApiError.ServiceUnavailable()
              )
          ),
          inSpanOf("/consumers/{id}")
        )))
)
