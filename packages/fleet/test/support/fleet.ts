import { type AccessScope, AccessTokens, Adapter, TokenEndpoint } from "@credit-data/core"
import { SharedTokens, type StoreEngine, TokenStore } from "@credit-data/fleet"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Duration, Effect, Exit, Layer, Logger, LogLevel, Redacted, Scope } from "effect"
import * as Envelope from "../../src/internal/envelope.ts"
import * as Stored from "../../src/internal/stored.ts"

const secret = "a client secret of at least 32 characters"

interface Client {
  readonly secret?: string
  readonly clientId?: string
  readonly audience?: string
  readonly authV2Url?: string
  readonly scopes?: readonly [AccessScope.AccessScope]
}

/** What the token endpoint returns: a token of this lifetime in seconds, or a failure. */
export interface TokenResponse {
  readonly status?: number
  readonly error?: string
  readonly headers?: Record<string, string>
  readonly lifetime?: number
}

const silent = HttpClient.make(() => Effect.never)

const adapter = Adapter.make({
  version: "V2",
  path: "/oauth2/token",
  field: "authV2Url",
  variable: "CREDIT_DATA_AUTH_V2_URL",
  description: "the address",
  example: "https://v2.example",
  scopes: true
})

/** A token endpoint of an adapter, over a transport without a network. */
export const endpointOf = <E = never>(
  { audience = "audience", authV2Url = "https://v2.example", clientId = "the-client", scopes, ...client }: Client,
  send: HttpClient.HttpClient = silent,
  credentials: Effect.Effect<string, E> = Effect.succeed(client.secret ?? secret)
) =>
  Effect.provide(
    TokenEndpoint.TokenEndpoint,
    adapter.layerTokenEndpoint({
      environment: { name: "test", audience, baseUrl: "https://api.example", authV2Url },
      credentials: Effect.map(credentials, (text) => ({ clientId, clientSecret: Redacted.make(text) })),
      scopes: scopes ?? ["data-access:all"]
    }).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, send)))
  )

/** The usual client's credentials. */
const usual = Effect.succeed({ clientId: "the-client", clientSecret: Redacted.make(secret) })
export const usualCredentials: TokenEndpoint.Credentials = { current: usual, reread: usual }

/** The entry of a client. */
export const entryOf = ({ clientId = "the-client", secret: own = secret, ...client }: Client) =>
  Effect.flatMap(
    endpointOf({ clientId, ...client }),
    (endpoint) => Envelope.entryOf(endpoint, { clientId, clientSecret: Redacted.make(own) })
  )

/** A store in memory, by the clock that is in use. */
export const makeMemory = Effect.scoped(
  Effect.flatMap(Layer.build(TokenStore.layerMemory), (context) => Effect.provide(TokenStore.TokenStore, context))
)

/** What the store contains for the usual client. */
export const readStore = (store: StoreEngine.Service) =>
  Stored.read.pipe(
    Effect.provide(Layer.effect(TokenEndpoint.TokenEndpoint, endpointOf({}))),
    Effect.provideService(TokenStore.TokenStore, store)
  )

/**
 * An authorization server in memory. A request takes 200 ms, and its tokens live for an hour, unless a test sets another
 * lifetime.
 */
export const makeServer = () => {
  const server = {
    requests: 0,
    refused: 0,
    latency: Duration.millis(200),
    secret,
    respond: (): TokenResponse => ({}),
    issued: Array<string>()
  }
  const client = HttpClient.make((request) =>
    Effect.gen(function*() {
      const number = ++server.requests
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
      const { error, headers, lifetime = 3_600, status = 200 } = server.respond()
      yield* Effect.sleep(server.latency)
      const isKnown = new URLSearchParams(body).get("client_secret") === server.secret
      const respond = (status: number, body: object) =>
        HttpClientResponse.fromWeb(request, new Response(JSON.stringify(body), { status, headers: headers ?? {} }))
      if (!isKnown) {
        server.refused++
        return respond(401, { error: "invalid_client" })
      }
      if (status !== 200) return respond(status, error === undefined ? {} : { error })
      const text = `token-${number}`
      server.issued.push(text)
      return respond(200, { access_token: text, token_type: "Bearer", expires_in: lifetime, scope: "data-access:all" })
    })
  )
  return { ...server, client, server }
}

export type Server = ReturnType<typeof makeServer>

/** A process of the fleet. */
export interface Process {
  readonly tokens: AccessTokens.Service
  readonly close: Effect.Effect<void>
  readonly logs: ReadonlyArray<string>
}

const settings = { renewalWindow: { from: 0.8, to: 0.8 } }

/** The supply of a process in its own scope, and its log. */
const buildSupply = Effect.fnUntraced(function*<E>(
  endpoint: Effect.Effect<TokenEndpoint.Service, E>,
  store: StoreEngine.Service,
  scope: Scope.Scope
) {
  const logs: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    logs.push(`${logLevel.label} ${String(message)}`)
  })
  const context = yield* Layer.build(
    SharedTokens.layer(settings).pipe(
      Layer.provide([
        Layer.effect(TokenEndpoint.TokenEndpoint, endpoint),
        Layer.succeed(TokenStore.TokenStore, store)
      ])
    )
  ).pipe(
    Scope.extend(scope),
    // each process has its own log
    Effect.provide(
      Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.Debug))
    )
  )
  return { tokens: yield* Effect.provide(AccessTokens.AccessTokens, context), logs }
})

/** The supply of a process over this endpoint. */
export const startSupply = (endpoint: TokenEndpoint.Service, store: StoreEngine.Service, scope: Scope.Scope) =>
  Effect.map(buildSupply(Effect.succeed(endpoint), store, scope), ({ tokens }) => tokens)

/** Starts a process whose fleet shares this store, and whose endpoint is this server. */
export const startProcess = Effect.fnUntraced(function*(
  { client }: Server,
  store: StoreEngine.Service,
  credentials?: Effect.Effect<string>
) {
  const scope = yield* Scope.make()
  const supply = yield* buildSupply(endpointOf({}, client, credentials), store, scope)
  return { ...supply, close: Scope.close(scope, Exit.void) } satisfies Process
})
