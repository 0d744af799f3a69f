import { bearerTokenAuthenticationPolicy, createEmptyPipeline, createPipelineRequest } from "@azure/core-rest-pipeline"
import { OAuth2Client as BadgatewayClient, OAuth2Fetch } from "@badgateway/oauth2-client"
import { FetchHttpClient, HttpBody, HttpClient } from "@effect/platform"
import { Cache, Duration, Effect, Exit, Layer, ManagedRuntime } from "effect"
import { OAuth2Client as GoogleClient } from "google-auth-library"
import { allowInsecureRequests, clientCredentialsGrant, ClientSecretPost, Configuration } from "openid-client"
import { ClientCredentials } from "simple-oauth2"
import { effect4 } from "../effect4.ts"
import * as effect3 from "../line/line.ts"

/** A supply of tokens, set up as the documentation of the library describes. */
export interface Supply {
  readonly get: () => Promise<string>
  readonly dispose: () => Promise<void>
}

/** A library that obtains tokens. */
export interface Peer {
  readonly name: string
  /** A limit of the library, or the code that was written around it. */
  readonly note: string
  /** Makes a supply. It adds the path `/oauth2/token` to the base. */
  readonly make: (base: string) => Promise<Supply>
}

const clientId = "id"
const clientSecret = "secret"
const nothing = () => Promise.resolve()

/** The names of these packages, on Effect 3 and on Effect 4. */
export const us = "@credit-data"
export const us4 = "@credit-data, Effect 4"

const ours: ReadonlyArray<Peer> = [
  { name: us, note: "a Promise from `runPromise` of an Effect runtime", make: effect3.makeSupply },
  { name: us4, note: "the same, on Effect 4", make: async (base) => (await effect4).makeSupply(base) }
]

interface TokenResponse {
  readonly access_token: string
  readonly expires_in: number
}

const isTokenResponse = (value: unknown): value is TokenResponse =>
  typeof value === "object" && value !== null && "access_token" in value && "expires_in" in value

/** A token request that is written by hand. */
const requestByHand = (base: string) =>
  Effect.gen(function*() {
    const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret }
    const response = yield* client.post(`${base}/oauth2/token`, {
      body: HttpBody.urlParams(Object.entries(form))
    })
    const body = yield* response.json
    return isTokenResponse(body) ? body : yield* Effect.fail("no token")
  }).pipe(Effect.provide(FetchHttpClient.layer))

const effectCache: Peer = {
  name: "Effect's Cache",
  note: "our own code around `Cache.makeWith`: 90 % of the lifetime, failures are not kept",
  make: async (base) => {
    const runtime = ManagedRuntime.make(Layer.empty)
    await runtime.runtime()
    const cache = Effect.runSync(
      Cache.makeWith({
        capacity: 1,
        lookup: () => requestByHand(base),
        timeToLive: Exit.match({
          onFailure: () => Duration.zero,
          onSuccess: (token) => Duration.seconds(token.expires_in * 0.9)
        })
      })
    )
    return {
      get: () => runtime.runPromise(Effect.map(cache.get("token"), (token) => token.access_token)),
      dispose: () => runtime.dispose()
    }
  }
}

const effectCached: Peer = {
  name: "cachedInvalidateWithTTL",
  note: "our own code: the time to live has to be known before the request; invalidated after a failure",
  make: async (base) => {
    const lifetime = Number(base.split("/").at(-2))
    const runtime = ManagedRuntime.make(Layer.empty)
    await runtime.runtime()
    const [get, invalidate] = Effect.runSync(
      Effect.cachedInvalidateWithTTL(requestByHand(base), Duration.seconds(lifetime * 0.9))
    )
    return {
      get: () => runtime.runPromise(Effect.map(Effect.tapError(get, () => invalidate), (token) => token.access_token)),
      dispose: () => runtime.dispose()
    }
  }
}

const badgateway: Peer = {
  name: "@badgateway/oauth2-client",
  note: "`OAuth2Fetch.getAccessToken`",
  make: async (base) => {
    const client = new BadgatewayClient({
      server: base,
      clientId,
      clientSecret,
      tokenEndpoint: `${base}/oauth2/token`,
      authenticationMethod: "client_secret_post"
    })
    const wrapper = new OAuth2Fetch({ client, getNewToken: () => client.clientCredentials(), scheduleRefresh: false })
    return { get: () => wrapper.getAccessToken(), dispose: nothing }
  }
}

const simple: Peer = {
  name: "simple-oauth2",
  note: "keeps no token: our own code around `expired`, as its README shows",
  make: async (base) => {
    const client = new ClientCredentials({
      client: { id: clientId, secret: clientSecret },
      auth: { tokenHost: base, tokenPath: `${new URL(base).pathname}/oauth2/token` },
      options: { authorizationMethod: "body" }
    })
    let token: Awaited<ReturnType<typeof client.getToken>> | undefined
    return {
      get: async () => {
        if (token === undefined || token.expired()) token = await client.getToken({})
        return String(token.token["access_token"])
      },
      dispose: nothing
    }
  }
}

const openid: Peer = {
  name: "openid-client",
  note: "keeps no token: our own code around `expiresIn`",
  make: async (base) => {
    const server = { issuer: base, token_endpoint: `${base}/oauth2/token` }
    const config = new Configuration(server, clientId, undefined, ClientSecretPost(clientSecret))
    allowInsecureRequests(config)
    let token: Awaited<ReturnType<typeof clientCredentialsGrant>> | undefined
    return {
      get: async () => {
        if ((token?.expiresIn() ?? 0) <= 0) token = await clientCredentialsGrant(config)
        return token?.access_token ?? ""
      },
      dispose: nothing
    }
  }
}

const azure: Peer = {
  name: "@azure/core-rest-pipeline",
  note: "its bearer policy, with a credential and an HttpClient of a few lines",
  make: async (base) => {
    const pipeline = createEmptyPipeline()
    const getToken = async () => {
      const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret }
      const sentAt = Date.now()
      const response = await fetch(`${base}/oauth2/token`, { method: "POST", body: new URLSearchParams(form) })
      const body: unknown = await response.json()
      if (!isTokenResponse(body)) throw new Error("no token")
      return { token: body.access_token, expiresOnTimestamp: sentAt + body.expires_in * 1_000 }
    }
    pipeline.addPolicy(bearerTokenAuthenticationPolicy({ credential: { getToken }, scopes: "scope" }))
    const read = {
      sendRequest: (request: ReturnType<typeof createPipelineRequest>) =>
        Promise.resolve({ request, status: 200, headers: request.headers })
    }
    return {
      get: async () => {
        const { headers } = await pipeline.sendRequest(read, createPipelineRequest({ url: "https://api.example" }))
        return headers.get("authorization")?.slice("Bearer ".length) ?? ""
      },
      dispose: nothing
    }
  }
}

const google: Peer = {
  name: "google-auth-library",
  note: "has no client_credentials grant: it uses a refresh token",
  make: async (base) => {
    const client = new GoogleClient({
      clientId,
      clientSecret,
      endpoints: { oauth2TokenUrl: `${base}/oauth2/token` },
      // the default of five minutes is longer than the lifetime of a short token
      eagerRefreshThresholdMillis: 0
    })
    client.setCredentials({ refresh_token: "refresh" })
    return { get: async () => (await client.getAccessToken()).token ?? "", dispose: nothing }
  }
}

export const peers: ReadonlyArray<Peer> = [
  ...ours,
  effectCache,
  effectCached,
  badgateway,
  simple,
  openid,
  azure,
  google
]
