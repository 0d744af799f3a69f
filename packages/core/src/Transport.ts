/**
 * What the transport beneath a client must not do with a secret or a token.
 *
 * @since 0.1.0
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"

/**
 * Tells fetch to return redirects, from here to the end of the region that has set the context, and leaves its other
 * options as they are. It is run within a client, by `HttpClient.mapRequestEffect`: there all of them are known, those
 * that the client was built with and those of the call. `manualRedirects` is what most programs want.
 *
 * @since 0.1.0
 * @category context
 */
export const dontFollowRedirects: Effect.Effect<void> = FiberRef.update(
  FiberRef.currentContext,
  (context) =>
    Context.add(context, FetchHttpClient.RequestInit, {
      ...Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit)),
      redirect: "manual"
    })
)

/**
 * A client whose redirects come back as they are. `fetch` follows redirects by itself and sends the body, with the
 * client secret in it, to wherever a 307 points; `node:http` and undici don't. All other fetch options stay as the
 * client has them.
 *
 * @since 0.1.0
 * @category combinators
 * @example
 * ```ts
 * import { Transport } from "@credit-data/core"
 * import { HttpClient } from "@effect/platform"
 * import { Effect } from "effect"
 *
 * export const client = Effect.map(HttpClient.HttpClient, Transport.manualRedirects)
 * ```
 */
export const manualRedirects = (client: HttpClient.HttpClient): HttpClient.HttpClient => {
  const manual = client.pipe(
    HttpClient.mapRequestEffect((request) => Effect.as(dontFollowRedirects, request)),
    // a region of its own, so that what was set ends with the request
    HttpClient.transformResponse(Effect.mapInputContext((context: Context.Context<never>) => context))
  )
  // sealed, for what wraps a client may take its requests out of that region
  return HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap((request) => manual.execute(request)),
    Effect.succeed
  )
}

/**
 * A client that sends to these URLs alone. Whatever wraps it, a client that follows redirects among them, can't lead a
 * secret or a token elsewhere: other requests fail with a `RequestError` (`InvalidUrl`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const sendOnlyTo = (client: HttpClient.HttpClient, isAllowed: (url: string) => boolean): HttpClient.HttpClient =>
  HttpClient.transform(client, (response, request) =>
    isAllowed(request.url) ? response : Effect.fail(
      new HttpClientError.RequestError({
        request,
        reason: "InvalidUrl",
        description: "A secret or a token is sent to no other server"
      })
    ))
