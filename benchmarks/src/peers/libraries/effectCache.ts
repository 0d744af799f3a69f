import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { Cache, Duration, Effect, Exit, ManagedRuntime } from "effect"
import { clientId, clientSecret, isTokenResponse, type Make, type MakeCalls } from "../peer.ts"

/** A token request that is written by hand. */
const requestToken = (base: string) =>
  Effect.gen(function*() {
    const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret }
    const response = yield* client.post(`${base}/oauth2/token`, {
      body: HttpBody.urlParams(Object.entries(form))
    })
    const body = yield* response.json
    return isTokenResponse(body) ? body : yield* Effect.fail("no token")
  })

const makeToken = (base: string) =>
  Effect.map(
    Cache.makeWith({
      capacity: 1,
      lookup: () => requestToken(base),
      timeToLive: Exit.match({
        onFailure: () => Duration.seconds(1),
        onSuccess: (token) => Duration.seconds(token.expires_in * 0.9)
      })
    }),
    (cache) => Effect.map(cache.get("token"), (token) => token.access_token)
  )

export const make: Make = async (base) => {
  const runtime = ManagedRuntime.make(FetchHttpClient.layer)
  const token = await runtime.runPromise(makeToken(base))
  return { get: () => runtime.runPromise(token), dispose: () => runtime.dispose() }
}

export const makeCalls: MakeCalls = async (url, path, base) => {
  const runtime = ManagedRuntime.make(FetchHttpClient.layer)
  const token = await runtime.runPromise(makeToken(base))
  const call = Effect.gen(function*() {
    const client = HttpClient.mapRequestEffect(
      yield* HttpClient.HttpClient,
      (request) => Effect.map(token, (text) => HttpClientRequest.bearerToken(request, text))
    )
    const response = yield* client.get(url + path)
    yield* response.text
    return response.status
  })
  return { call: () => runtime.runPromise(call), dispose: () => runtime.dispose() }
}
