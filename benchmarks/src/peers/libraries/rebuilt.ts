// The way of caching of `@ballatech/effect-oauth-client`, written again with the same combinators of Effect and the same defaults,
// because the package is not in every registry.

import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { Data, Effect, Schema } from "effect"

class Unauthorized extends Data.TaggedError("Unauthorized") {}

const TokenResponse = Schema.Struct({ access_token: Schema.String, expires_in: Schema.Number })

/** Its cache for tokens, and its `HttpClient` that uses it. */
export const make = (tokenUrl: string, clientId: string, clientSecret: string) =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const post = HttpClientRequest.post(tokenUrl).pipe(
      HttpClientRequest.bodyUrlParams({ grant_type: "client_credentials" }),
      HttpClientRequest.basicAuth(clientId, clientSecret)
    )
    const request = client.execute(post).pipe(
      Effect.flatMap(HttpClientResponse.schemaBodyJson(TokenResponse)),
      Effect.map((body) => ({
        text: body.access_token,
        // its `expiryBuffer`
        until: Date.now() + (body.expires_in - 300) * 1_000
      }))
    )
    // its `ttl`; a failure is kept as long as a token
    const [cached, invalidate] = yield* Effect.cachedInvalidateWithTTL(request, "3600 seconds")
    const token = Effect.flatMap(
      cached,
      ({ text, until }) =>
        Date.now() > until
          ? Effect.map(Effect.zipRight(invalidate, cached), (renewed) => renewed.text)
          : Effect.succeed(text)
    )
    const authenticated = client.pipe(
      HttpClient.mapRequestInputEffect((each) =>
        Effect.map(token, (text) => HttpClientRequest.bearerToken(each, text))
      ),
      HttpClient.transform((call) =>
        call.pipe(
          Effect.tap(({ status }) => status === 401 ? Effect.zipRight(invalidate, new Unauthorized()) : Effect.void),
          Effect.retry({ while: (error) => error instanceof Unauthorized, times: 1 })
        )
      )
    )
    return { token, client: authenticated }
  })
