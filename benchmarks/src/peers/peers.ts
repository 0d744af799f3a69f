import { bearerTokenAuthenticationPolicy, createEmptyPipeline, createPipelineRequest } from "@azure/core-rest-pipeline"
import {
  ConfidentialClientApplication,
  type INetworkModule,
  type NetworkResponse,
  ProtocolMode
} from "@azure/msal-node"
import { OAuth2Client as BadgatewayClient, OAuth2Fetch } from "@badgateway/oauth2-client"
import { FetchHttpClient, HttpBody, HttpClient } from "@effect/platform"
import { Cache, Duration, Effect, Exit, Layer, ManagedRuntime } from "effect"
import { allowInsecureRequests, clientCredentialsGrant, ClientSecretPost, Configuration } from "openid-client"
import { ClientCredentials } from "simple-oauth2"
import type { Dispatcher } from "undici"
import { createOidcInterceptor } from "undici-oidc-interceptor"
import { effect4 } from "../effect4.ts"
import * as effect3 from "../line/line.ts"
import * as rebuilt from "./ballatech.ts"

/** A supply of tokens, set up as the documentation of the library describes. */
export interface Supply {
  readonly get: () => Promise<string>
  readonly dispose: () => Promise<void>
}

/** Authenticated calls of a business API. */
export interface Calls {
  readonly call: () => Promise<number>
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
  /** Makes calls that return their status, if the library also handles 401. */
  readonly makeCalls?: (url: string, path: string, base: string) => Promise<Calls>
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
    make: effect3.makeSupply,
    makeCalls: (...where) => Promise.resolve(effect3.makeCalls(...where))
  },
  {
    name: us4,
    note: "the same, on Effect 4",
    leavesOut: "",
    make: async (base) => (await effect4).makeSupply(base),
    makeCalls: async (...where) => (await effect4).makeCalls(...where)
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

export const ballatechName = "@ballatech/effect-oauth-client, rebuilt"

const ballatech: Peer = {
  name: ballatechName,
  note:
    "its way of caching, rebuilt by us with its defaults ([the file](../src/peers/ballatech.ts)): `cachedInvalidateWithTTL` for an " +
    "hour, renewed five minutes before the token expires. A 401 drops the token, and the call is sent once more",
  leavesOut:
    "renewal in the background, and pauses: a failure is kept as long as a token, for an hour. The call that is sent " +
    "again has the rejected token; the next call has a new one",
  make: async (base) => {
    const runtime = ManagedRuntime.make(FetchHttpClient.layer)
    const { token } = await runtime.runPromise(rebuilt.make(`${base}/oauth2/token`, clientId, clientSecret))
    return { get: () => runtime.runPromise(token), dispose: () => runtime.dispose() }
  },
  makeCalls: async (url, path, base) => {
    const runtime = ManagedRuntime.make(FetchHttpClient.layer)
    const { client } = await runtime.runPromise(rebuilt.make(`${base}/oauth2/token`, clientId, clientSecret))
    const status = Effect.flatMap(client.get(url + path), ({ status, text }) => Effect.as(text, status))
    const call = Effect.catchTag(status, "Unauthorized", () => Effect.succeed(401))
    return { call: () => runtime.runPromise(call), dispose: () => runtime.dispose() }
  }
}

const badgatewayFetch = (base: string) => {
  const client = new BadgatewayClient({
    server: base,
    clientId,
    clientSecret,
    tokenEndpoint: `${base}/oauth2/token`,
    authenticationMethod: "client_secret_post"
  })
  return new OAuth2Fetch({ client, getNewToken: () => client.clientCredentials(), scheduleRefresh: false })
}

const badgateway: Peer = {
  name: "@badgateway/oauth2-client",
  note:
    "`OAuth2Fetch.getAccessToken`, and its `fetch`, which requests a token after each 401 and sends the call once more",
  leavesOut: "a margin before a token expires, a pause after a failure",
  make: (base) => {
    const wrapper = badgatewayFetch(base)
    return Promise.resolve({ get: () => wrapper.getAccessToken(), dispose: nothing })
  },
  makeCalls: (url, path, base) => {
    const wrapper = badgatewayFetch(base)
    return Promise.resolve({ call: async () => (await wrapper.fetch(url + path)).status, dispose: nothing })
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

/** Sends MSAL's requests, which have to be for a server with TLS, to the token server. */
const networkTo = (base: string): INetworkModule => {
  const send = async <T>(url: string, init: RequestInit): Promise<NetworkResponse<T>> => {
    const response = await fetch(url.replace(msalAuthority, base), init)
    const body: T = await response.json()
    return { status: response.status, headers: Object.fromEntries(response.headers), body }
  }
  return {
    sendGetRequestAsync: (url, options) => send(url, { headers: options?.headers ?? {} }),
    sendPostRequestAsync: (url, options) =>
      send(url, { method: "POST", headers: options?.headers ?? {}, body: options?.body ?? "" })
  }
}

const msalAuthority = "https://login.example"

const msal: Peer = {
  name: "@azure/msal-node",
  note:
    "`acquireTokenByClientCredential`, with the metadata of the server as an option and a network module of a few lines",
  leavesOut:
    "one request for all waiting callers, a pause after a failure, handling of a 401. It renews five minutes before a token " +
    "expires, or in the background from `refresh_in` on if the response has it, which ours has not",
  make: (base) => {
    const client = new ConfidentialClientApplication({
      auth: {
        clientId,
        clientSecret,
        authority: msalAuthority,
        knownAuthorities: [new URL(msalAuthority).host],
        authorityMetadata: JSON.stringify({
          issuer: msalAuthority,
          authorization_endpoint: `${msalAuthority}/authorize`,
          token_endpoint: `${msalAuthority}/oauth2/token`,
          end_session_endpoint: `${msalAuthority}/logout`,
          jwks_uri: `${msalAuthority}/keys`
        })
      },
      system: { protocolMode: ProtocolMode.OIDC, networkClient: networkTo(base) }
    })
    return Promise.resolve({
      get: async () => {
        const result = await client.acquireTokenByClientCredential({ scopes: ["data-access:all/.default"] })
        if (result === null) throw new Error("no token")
        return result.accessToken
      },
      dispose: nothing
    })
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
  ballatech,
  badgateway,
  simple,
  openid,
  azure,
  msal,
  undici
]
