// The code that is measured on Effect 3, and, as the generator writes it, on Effect 4.

import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { FetchHttpClient, HttpClient } from "@effect/platform"
import { Context, Deferred, Effect, Layer, ManagedRuntime, Redacted } from "effect"

const layer = (baseUrl: string, base: string) =>
  AuthV2.layer({
    environment: { name: "benchmark", audience: "a", baseUrl, authV2Url: base },
    credentials: { clientId: "id", clientSecret: Redacted.make("secret") },
    scopes: ["data-access:all"]
  })

const tokenText = Effect.map(
  Effect.flatMap(AccessTokens.AccessTokens, (tokens) => tokens.get),
  ({ secret }) => Redacted.value(secret)
)

/** Makes a supply of tokens from this token endpoint. */
export const makeSupply = async (base: string) => {
  const runtime = ManagedRuntime.make(layer(base, base).pipe(Layer.provide(FetchHttpClient.layer)))
  // a runtime is built by its first effect
  await runtime.runPromise(Effect.void)
  return { get: () => runtime.runPromise(tokenText), dispose: () => runtime.dispose() }
}

/** What the floors get a token from. */
class Kept extends Context.Tag("Kept")<Kept, { readonly get: Effect.Effect<Redacted.Redacted> }>() {}

const floorOf = async (get: Effect.Effect<Redacted.Redacted>) => {
  const runtime = ManagedRuntime.make(Layer.succeed(Kept, { get }))
  const kept = Effect.map(Effect.flatMap(Kept, (each) => each.get), Redacted.value)
  // a runtime is built by its first effect
  await runtime.runPromise(Effect.void)
  return { get: () => runtime.runPromise(kept), dispose: () => runtime.dispose() }
}

/** What Effect itself costs for a cached token: a constant, as a Promise. */
export const makeCachedFloor = () => floorOf(Effect.succeed(Redacted.make("token")))

const form = { grant_type: "client_credentials", client_id: "id", client_secret: "secret", scope: "data-access:all" }

/** What Effect itself costs for callers without a token: a request by `fetch`, and a Deferred that all of them wait for. */
export const makeColdFloor = (base: string) => {
  const token = Effect.runSync(Deferred.make<Redacted.Redacted>())
  let isRequested = false
  const get = Effect.suspend(() => {
    if (!isRequested) {
      isRequested = true
      void fetch(`${base}/oauth2/token`, { method: "POST", body: new URLSearchParams(form) }).then(async (response) => {
        await response.text()
        Effect.runSync(Deferred.succeed(token, Redacted.make("token")))
      })
    }
    return Deferred.await(token)
  })
  return floorOf(get)
}

/** What a call costs over Effect's HttpClient, without a token. */
export const makeBareCalls = (url: string, path: string) => {
  const runtime = ManagedRuntime.make(FetchHttpClient.layer)
  const call = Effect.flatMap(HttpClient.get(url + path), ({ text }) => text)
  return { call: () => runtime.runPromise(call), dispose: () => runtime.dispose() }
}

/** Makes calls of Data Access over fetch, with tokens from this endpoint, and returns their status. */
export const makeCalls = (url: string, path: string, base: string) => {
  const runtime = ManagedRuntime.make(
    DataAccess.layer().pipe(Layer.provide(layer(url, base)), Layer.provide(FetchHttpClient.layer))
  )
  const call = Effect.flatMap(
    Effect.flatMap(DataAccess.DataAccess, (client) => client.get(path)),
    ({ status, text }) => Effect.as(text, status)
  )
  return { call: () => runtime.runPromise(call), dispose: () => runtime.dispose() }
}
