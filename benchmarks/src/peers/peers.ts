import { bearerTokenAuthenticationPolicy, createEmptyPipeline, createPipelineRequest } from "@azure/core-rest-pipeline"
import { OAuth2Client as BadgatewayClient, OAuth2Fetch } from "@badgateway/oauth2-client"
import { FetchHttpClient, HttpBody, HttpClient } from "@effect/platform"
import { Cache, Duration, Effect, Exit, Layer, ManagedRuntime } from "effect"
import { allowInsecureRequests, clientCredentialsGrant, ClientSecretPost, Configuration } from "openid-client"
import { ClientCredentials } from "simple-oauth2"
import type { Dispatcher } from "undici"
import { createOidcInterceptor } from "undici-oidc-interceptor"
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
  /** How it is set up, and the code that was written around it. */
  readonly note: string
  /** What these packages do and it does not. */
  readonly leavesOut: string
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
  {
    name: us,
    note: "`AuthV2.layer`, and a Promise from `runPromise` of an Effect runtime",
    leavesOut: "",
    make: effect3.makeSupply
  },
  {
    name: us4,
    note: "the same, on Effect 4",
    leavesOut: "",
    make: async (base) => (await effect4).makeSupply(base)
  }
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
  note: "our own code around `Cache.makeWith` of Effect 3: 90 % of the lifetime, and failures are kept for a second",
  leavesOut: "renewal in the background, pauses that grow, `Retry-After`, a replacement after a 401; on Effect 3, " +
    "interrupting the first caller fails all others",
  make: async (base) => {
    const runtime = ManagedRuntime.make(Layer.empty)
    await runtime.runtime()
    const cache = Effect.runSync(
      Cache.makeWith({
        capacity: 1,
        lookup: () => requestByHand(base),
        timeToLive: Exit.match({
          onFailure: () => Duration.seconds(1),
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
  note: "our own code: invalidated after a failure, because the time to live is one constant, known before the request",
  leavesOut: "lifetimes from responses, renewal in the background, a pause after a failure, a replacement after a 401",
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
  leavesOut: "a margin before a token expires, a pause after a failure",
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

/** The code that users of a library without a cache write: one request for all callers, renewed at 90 % of the lifetime. */
const keeping = (request: () => Promise<{ readonly text: string; readonly seconds: number }>): Supply => {
  let token: Promise<string> | undefined
  let until = 0
  return {
    get: () => {
      if (token !== undefined && performance.now() < until) return token
      until = Infinity
      token = request().then(({ seconds, text }) => {
        until = performance.now() + seconds * 900
        return text
      })
      token.catch(() => {
        until = 0
      })
      return token
    },
    dispose: nothing
  }
}

const simple: Peer = {
  name: "simple-oauth2",
  note: "keeps no token: our own code around it shares a request, and renews at 90 % of the lifetime",
  leavesOut: "everything but the request",
  make: async (base) => {
    const client = new ClientCredentials({
      client: { id: clientId, secret: clientSecret },
      auth: { tokenHost: base, tokenPath: `${new URL(base).pathname}/oauth2/token` },
      options: { authorizationMethod: "body" }
    })
    return keeping(async () => {
      const { token } = await client.getToken({})
      return { text: String(token["access_token"]), seconds: Number(token["expires_in"]) }
    })
  }
}

const openid: Peer = {
  name: "openid-client",
  note: "keeps no token: the same code around it",
  leavesOut: "everything but the request, which it checks more strictly than the others",
  make: async (base) => {
    const server = { issuer: base, token_endpoint: `${base}/oauth2/token` }
    const config = new Configuration(server, clientId, undefined, ClientSecretPost(clientSecret))
    allowInsecureRequests(config)
    return keeping(async () => {
      const { access_token, expires_in } = await clientCredentialsGrant(config)
      return { text: access_token, seconds: expires_in ?? 0 }
    })
  }
}

const azure: Peer = {
  name: "@azure/core-rest-pipeline",
  note: "its bearer policy, with a credential and an HttpClient of a few lines",
  leavesOut:
    "a pause after a failure while there is no token. It renews two minutes before the token expires, or at `refreshAfterTimestamp` if the credential sets it, which ours does not",
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

const controller: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort: () => {},
  pause: () => {},
  resume: () => {}
}

const authorizationOf = (headers: Dispatcher.DispatchOptions["headers"]): string =>
  typeof headers === "object" && headers !== null && "authorization" in headers ? String(headers["authorization"]) : ""

const undici: Peer = {
  name: "undici-oidc-interceptor",
  note: "an interceptor for undici's dispatcher; it requires tokens that are JSON Web Tokens",
  leavesOut: "a pause after a failure, and the last 10 seconds of each token's lifetime",
  make: async (base) => {
    const origin = "https://api.example"
    const intercept = createOidcInterceptor({
      idpTokenUrl: `${base}/oauth2/token`,
      clientId,
      clientSecret,
      urls: [origin]
    })
    const dispatch = intercept((options, handler) => {
      handler.onRequestStart?.(controller, {})
      handler.onResponseStart?.(controller, 200, {}, "OK")
      handler.onResponseEnd?.(controller, { authorization: authorizationOf(options.headers) })
      return true
    })
    return {
      get: () =>
        new Promise((resolve, reject) => {
          dispatch({ origin, path: "/", method: "GET" }, {
            onRequestStart: () => {},
            onResponseStart: () => {},
            onResponseData: () => {},
            onResponseEnd: (_, { authorization }) => resolve(String(authorization).slice("Bearer ".length)),
            onResponseError: (_, error) => reject(error)
          })
        }),
      dispose: nothing
    }
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
  undici
]
