// The baseline of the bundle size: the same program as token.ts, but with only Effect's HttpClient and without tokens.

import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { Context, Effect, Layer } from "effect"

class DataAccess extends Context.Tag("DataAccess")<DataAccess, HttpClient.HttpClient>() {}

const plain = Layer.effect(
  DataAccess,
  Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(HttpClientRequest.prependUrl("https://api.example")))
)

const call = Effect.flatMap(DataAccess, (client) => client.get("/data-access/consumers/42"))

const layer = plain.pipe(Layer.provide(FetchHttpClient.layer))

export const main = () => Effect.runPromise(Effect.provide(call, layer))
