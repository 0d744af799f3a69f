import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { HttpClient, type HttpClientRequest } from "@effect/platform"
import { Effect, Layer, Redacted } from "effect"
import { canary } from "./canaries.ts"
import type { Transport } from "./transports.ts"

/** The client whose secret is the canary. */
export const credentials = { clientId: "id", clientSecret: Redacted.make(canary) }

/** The options of a supply for an authorization server at this address, and an API at the same one or another. */
export const optionsAt = (authV2Url: string, baseUrl = authV2Url) =>
  ({
    environment: { name: "test", audience: "a", baseUrl, authV2Url },
    credentials,
    scopes: ["data-access:all"]
  }) as const

/** Sends a token request to the authorization server at this address. */
export const requestToken = (url: string, transport: Transport) =>
  Effect.flatMap(TokenEndpoint.TokenEndpoint, ({ requestToken }) => requestToken({ _tag: "Nothing" })).pipe(
    Effect.provide(Layer.provide(AuthV2.layerTokenEndpoint(optionsAt(url)), transport))
  )

/** Uses the client of Data Access for the API at this address. Its token is the canary. */
export const withDataAccess = <A, E, R>(
  url: string,
  transport: Transport,
  use: (client: Effect.Effect.Success<typeof DataAccess.DataAccess>) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(DataAccess.DataAccess, use).pipe(Effect.provide(
    DataAccess.layer().pipe(
      Layer.provide([
        AccessTokens.layerTest({ secret: Redacted.make(canary), environment: { baseUrl: url } }),
        transport
      ])
    )
  ))

/** The program's own client, which changes each request. */
export const changed = (
  transport: Transport,
  change: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest
): Transport =>
  Layer.provide(
    Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(change))),
    transport
  )

/** The caller of a `fetch` aborts it with its own controller, outside of Effect. */
export const callerAbort = () => new AbortController()
