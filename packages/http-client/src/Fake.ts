/**
 * The client of an endpoint group without a server and without tokens, for tests.
 *
 * @since 1.0.0
 */
import { HttpError, opaque } from "@credit-data/core/Internal"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { GroupClient, GroupClientError } from "./GroupClient.ts"
import { makeTarget } from "./internal/target.ts"

/**
 * Responds to a call, or fails with an error that the real client can fail with.
 *
 * @since 1.0.0
 * @category models
 */
export type Handler = (
  request: HttpClientRequest.HttpClientRequest
) => Response | Effect.Effect<Response, GroupClientError>

/** The calls of each fake. */
const recorded = new WeakMap<object, Array<HttpClientRequest.HttpClientRequest>>()

/**
 * A client whose calls go to the handler, without a token. No call is sent again. The base URL is `http://localhost`, and a URL of another
 * origin or with `..` is refused. The handler can return the same `Response` several times.
 *
 * Each group has it as a layer, such as `DataAccess.layerTest`. Use this function for a group of your own.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { Fake, type GroupClient } from "@credit-data/http-client"
 * import { Context, Layer } from "effect"
 *
 * class Reports extends Context.Tag("my-service/Reports")<Reports, GroupClient.GroupClient>() {}
 *
 * export const ReportsTest = Layer.effect(Reports, Fake.make("Reports", () => Response.json({ total: 7 })))
 * ```
 */
export const make = <const Name extends string>(name: Name, handler: Handler): Effect.Effect<GroupClient<Name>> =>
  Effect.sync(() => {
    const target = makeTarget("http://localhost")
    const calls: Array<HttpClientRequest.HttpClientRequest> = []
    const client = Object.assign(
      opaque((request) =>
        Either.match(target(request.url), {
          onLeft: (description) => Effect.fail(HttpError.requestError("InvalidUrl", { request, description })),
          onRight: () =>
            Effect.suspend(() => {
              calls.push(request)
              const response = handler(request)
              return Effect.map(
                Effect.isEffect(response) ? response : Effect.succeed(response),
                (response) => HttpClientResponse.fromWeb(request, response.clone())
              )
            })
        })
      ),
      { group: name }
    )
    recorded.set(client, calls)
    return client
  })

/**
 * The requests that a fake has received, in order.
 *
 * @since 1.0.0
 * @category models
 * @example
 * ```ts
 * import { DataAccess, Fake } from "@credit-data/http-client"
 * import { Effect } from "effect"
 *
 * export const test = Effect.gen(function*() {
 *   const dataAccess = yield* DataAccess.DataAccess
 *   yield* dataAccess.get("/data-access/consumers/42")
 *   const calls = yield* Fake.calls(dataAccess)
 *   console.log(calls.map(({ method, url }) => `${method} ${url}`)) // [ 'GET /data-access/consumers/42' ]
 * }).pipe(Effect.provide(DataAccess.layerTest(() => Response.json({ id: 42 }))))
 * ```
 */
export const calls = (client: GroupClient): Effect.Effect<ReadonlyArray<HttpClientRequest.HttpClientRequest>> =>
  Effect.sync(() => [...recorded.get(client) ?? []])
