/**
 * What the transport beneath a client must not do with a secret or a token.
 *
 * @since 0.1.0
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** The `RequestInit` that a fetch client was built with. Asked within the client, and before anything is sent. */
const requestInit = (client: HttpClient.HttpClient): Effect.Effect<RequestInit> =>
  HttpClient.mapRequestEffect(
    client,
    () => Effect.flatMap(Effect.serviceOption(FetchHttpClient.RequestInit), Effect.fail)
  )
    .execute(HttpClientRequest.get("http://localhost"))
    .pipe(
      Effect.flip,
      Effect.orDie,
      Effect.map((found) => Option.isOption(found) ? Option.getOrElse(found, () => ({})) : {})
    )

/**
 * A client whose redirects come back as they are. `fetch` follows redirects by itself and sends the body, with the
 * client secret in it, to wherever a 307 points; `node:http` and undici don't. All other fetch options stay as the
 * client has them.
 *
 * @since 0.1.0
 * @category combinators
 */
export const manualRedirects = (client: HttpClient.HttpClient): Effect.Effect<HttpClient.HttpClient> =>
  Effect.map(requestInit(client), (init) =>
    HttpClient.transformResponse(
      client,
      Effect.provideService(FetchHttpClient.RequestInit, { ...init, redirect: "manual" })
    ))
