import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import {
  AccessScope,
  AccessToken,
  AccessTokens,
  Adapter,
  ClientCredentials,
  Environment,
  TokenEndpoint,
  TokenError,
  TokenEvent,
  TokenStatus,
  Variables
} from "@credit-data/core"
import {
  DataAccess,
  EnablementServices,
  Fetch,
  Furnishment,
  GroupClient,
  InsufficientScope
} from "@credit-data/http-client"
import { SharedTokens, StoreError, TokenStore } from "@credit-data/fleet"
import { Comparison, Migration, Plan } from "@credit-data/migration"
import { Change, Fault, Fixture, FixtureError, Received, Simulator, SimulatorConsole } from "@credit-data/simulator"
import { RedisTokenStore } from "@credit-data/store-redis"
import { HealthCheck, Prometheus, Telemetry } from "@credit-data/telemetry"
import { FileSystem, type HttpClient, HttpServerResponse } from "@effect/platform"
import {
  Cause,
  Config,
  ConfigProvider,
  Context,
  DateTime,
  Duration,
  Effect,
  Exit,
  Layer,
  Redacted,
  Schema,
  Stream,
  TestClock
} from "effect"
import { Redis } from "ioredis"
import { canary, tokenPrefix } from "./canaries.ts"
import { credentials } from "./clients.ts"
import { granted } from "./servers.ts"

/** Credentials that are refused before anything is sent, because the secret has a control character. */
const brokenCredentials = { clientId: "id", clientSecret: Redacted.make(`${canary}\n\n`) }

/** An environment that is refused. It has a secret in a place where a user could put it by mistake. */
const brokenEnvironment = {
  name: "n",
  audience: "a",
  baseUrl: `http://${canary}.example`,
  authV1Url: `https://user:${canary}@auth.example`,
  authV2Url: `https://auth.example/?secret=${canary}`
}

const scopes = ["data-access:all"] as const

const token = (text: string) =>
  new AccessToken.AccessToken({
    secret: Redacted.make(text),
    scopes,
    requestedAt: DateTime.unsafeMake(0),
    expiresAt: DateTime.unsafeMake(86_400_000)
  })

/** Responses that contain a secret in each place where a server could put one. */
const leaks = {
  refused: Fault.Response({
    status: 401,
    headers: { "set-cookie": `session=${canary}`, "www-authenticate": `Basic realm="${canary}"` },
    body: JSON.stringify({ error: "invalid_client", error_description: `You sent ${canary}.` })
  }),
  failed: Fault.oauthError(500, canary, canary),
  illTyped: Fault.Response({ status: 200, body: JSON.stringify({ access_token: [canary], token_type: canary }) }),
  short: Fault.Response({ status: 200, body: canary }),
  redirect: Fault.Response({ status: 307, headers: { location: `https://elsewhere.example/?code=${canary}` } }),
  reset: Fault.Reset()
}

/** The exit of an effect, and the value or the error in it. */
const outcomes = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(
    Effect.exit(effect),
    (exit) => Exit.isSuccess(exit) ? [exit, exit.value] : [exit, exit.cause, Cause.squash(exit.cause)]
  )

/** Everything that a token endpoint returns, in success and in failure. */
const ofEndpoint = Effect.fnUntraced(function*<E>(
  layer: Layer.Layer<TokenEndpoint.TokenEndpoint, E, HttpClient.HttpClient>
) {
  const simulator = yield* Simulator.Simulator
  const context = yield* Layer.build(layer)
  const endpoint = yield* Effect.provide(TokenEndpoint.TokenEndpoint, context)
  yield* simulator.failTokenRequests(Fault.Response({
    status: 200,
    headers: { "set-cookie": `session=${canary}` },
    body: JSON.stringify({ ...granted(1), refresh_token: canary, id_token: canary, note: canary })
  }))
  const values: Array<unknown> = [layer, context, endpoint, yield* outcomes(endpoint.requestToken({ _tag: "Nothing" }))]
  for (const fault of Object.values(leaks)) {
    yield* simulator.failTokenRequests(fault)
    values.push(yield* outcomes(endpoint.requestToken({ _tag: "Nothing" })))
  }
  return values
})

/** Everything that a supply returns, from its first token to its last failure, and its events. */
const ofSupply = Effect.fnUntraced(function*<E, R>(layer: Layer.Layer<AccessTokens.AccessTokens, E, R>) {
  const simulator = yield* Simulator.Simulator
  const context = yield* Layer.build(layer)
  const tokens = yield* Effect.provide(AccessTokens.AccessTokens, context)
  const events: Array<unknown> = []
  yield* Effect.forkScoped(Stream.runForEach(tokens.events, (event) => Effect.sync(() => events.push(event))))
  yield* Effect.yieldNow()
  const values: Array<unknown> = [layer, context, tokens, yield* tokens.status, yield* outcomes(tokens.get)]
  const token = yield* tokens.get
  yield* tokens.invalidate(token)
  yield* simulator.failTokenRequests(leaks.refused)
  return [...values, yield* outcomes(tokens.get), yield* tokens.status, events]
})

const bodyOf = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.promise(() => HttpServerResponse.toWeb(response).text())

/** What is shown of a supply that got a token, and then a failure. */
const ofTelemetry = Effect.fnUntraced(function*<E, R>(layer: Layer.Layer<AccessTokens.AccessTokens, E, R>) {
  const simulator = yield* Simulator.Simulator
  const context = yield* Layer.build(Layer.provideMerge(Telemetry.layer(), layer))
  const tokens = yield* Effect.provide(AccessTokens.AccessTokens, context)
  yield* tokens.invalidate(yield* tokens.get)
  yield* simulator.failTokenRequests(leaks.refused)
  yield* Effect.exit(tokens.refresh)
  const live = yield* HealthCheck.live
  const ready = yield* Effect.provide(HealthCheck.ready, context)
  const scraped = yield* Prometheus.response
  return {
    "HealthCheck.live": [live, yield* bodyOf(live)],
    "HealthCheck.ready": [ready, yield* bodyOf(ready)],
    "Prometheus.response": [scraped, yield* bodyOf(scraped)],
    "Prometheus.text": yield* Prometheus.text,
    "Telemetry.layer": context
  }
})

/** A store, and what is read from it after a supply has used it. */
const ofStore = <E, R>(layer: Layer.Layer<TokenStore.TokenStore, E, R>) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(layer)
    const store = yield* Effect.provide(TokenStore.TokenStore, context)
    return [layer, context, store, yield* outcomes(store.read("a".repeat(64)))]
  })

/** Everything that a migration shows: of a comparison with failures, of a report, and of its supply. */
const ofMigration = Effect.fnUntraced(function*<E, R>(
  layer: Layer.Layer<AccessTokens.AccessTokens | Migration.Migration, E, R>
) {
  const simulator = yield* Simulator.Simulator
  const context = yield* Layer.build(layer)
  const { compare, plan, report } = yield* Effect.provide(Migration.Migration, context)
  yield* simulator.failTokenRequests(leaks.refused)
  yield* simulator.failCalls(Fault.Response({ status: 200, body: canary }))
  return [
    yield* outcomes(compare([{ method: "GET", path: "/data-access/a" }])),
    yield* plan,
    yield* report,
    yield* ofSupply(layer)
  ]
})

/** Everything that the client of a group returns. */
const ofGroup = Effect.fnUntraced(function*<I, E>(
  tag: { readonly key: string } & Effect.Effect<GroupClient.GroupClient, never, I>,
  layer: Layer.Layer<I, E, AccessTokens.AccessTokens | HttpClient.HttpClient>,
  path: string
) {
  const simulator = yield* Simulator.Simulator
  const auth = AuthV2.layer({ environment: simulator.environment, credentials, scopes: AccessScope.all })
  const context = yield* Layer.build(Layer.provide(layer, auth))
  const client = yield* Effect.provide(tag, context)
  const plain = GroupClient.toHttpClient(client)
  const response = yield* client.get(path)
  yield* response.json
  yield* simulator.failCalls(Fault.Response({ status: 200, body: "not JSON" }))
  const undecodable = yield* outcomes(Effect.flatMap(client.get(path), ({ json }) => json))
  yield* simulator.failCalls(Fault.Reset(), { times: 2 })
  return [
    tag,
    layer,
    context,
    client,
    plain,
    response,
    response.request,
    undecodable,
    yield* outcomes(client.get(path)),
    yield* outcomes(plain.get(path)),
    yield* outcomes(client.get("https://elsewhere.example")),
    yield* outcomes(Layer.build(Layer.provide(layer, AccessTokens.layerTest({ environment: brokenEnvironment }))))
  ]
})

/** A `fetch`, its response, and the errors with which it rejects. */
const ofFetch = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const auth = AuthV2.layer({ environment: simulator.environment, credentials, scopes: AccessScope.all })
  const context = yield* Layer.build(Layer.provide(DataAccess.layer(), auth))
  const fetch = yield* Effect.flatMap(Effect.provide(DataAccess.DataAccess, context), Fetch.make)
  const call = (url: string) => Effect.promise(() => fetch(url).catch((error: unknown) => error))
  const response = yield* call("/data-access/a")
  yield* simulator.failCalls(Fault.Reset(), { times: 2 })
  return [fetch, response, yield* call("/data-access/a"), yield* call("https://elsewhere.example")]
})

const configFromCanaries = ConfigProvider.fromMap(
  new Map(
    ["ENVIRONMENT", "AUDIENCE", "BASE_URL", "AUTH_V1_URL", "AUTH_V2_URL", "CLIENT_ID", "CLIENT_SECRET", "SCOPES"].map(
      (name) => [`CREDIT_DATA_${name}`, `${canary}\0`]
    )
  )
)

/** A Config, and its failures for values that contain secrets. */
const ofConfig = (config: Record<string, Config.Config<unknown>>) =>
  Effect.map(
    Effect.forEach(Object.values(config), (each) => outcomes(each.pipe(Effect.withConfigProvider(configFromCanaries)))),
    (failures) => [config, failures]
  )

/** The failures of a layer whose variables contain secrets. */
const fromCanaries = <A, E>(layer: Layer.Layer<A, E, HttpClient.HttpClient>) =>
  outcomes(Effect.scoped(Layer.build(layer)).pipe(Effect.withConfigProvider(configFromCanaries)))

/** The members of an adapter. The given layer has broken options. */
const ofAdapter = (
  { config, layerConfig, layerTokenEndpointConfig }:
    & { readonly config: Record<string, Config.Config<unknown>> }
    & Pick<typeof AuthV1, "layerConfig" | "layerTokenEndpointConfig">,
  broken: Layer.Layer<AccessTokens.AccessTokens, unknown, HttpClient.HttpClient>,
  layerTokenEndpoint: unknown
) =>
  Effect.all({
    config: ofConfig(config),
    layer: outcomes(Effect.scoped(Layer.build(broken))),
    layerConfig: fromCanaries(layerConfig()),
    layerTokenEndpoint: Effect.succeed(layerTokenEndpoint),
    layerTokenEndpointConfig: fromCanaries(layerTokenEndpointConfig())
  })

const membersOf = (module: string, members: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [`${module}.${name}`, value]))

const at = DateTime.unsafeMake(0)
const tokenEndpoint = "https://v2.example/oauth2/token"
const connectionReset = new TokenError.TransportError({ environment: "test", tokenEndpoint, reason: "Reset" })

/**
 * For each package's exports: the value, the results and the failures, made from canaries: all that a program could
 * print. The keys are the names of the package, the module and the export.
 */
export const specimens = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const { environment } = simulator
  const options = { environment, credentials, scopes }
  const broken = { environment: brokenEnvironment, credentials: brokenCredentials, scopes }
  const v1 = yield* ofEndpoint(AuthV1.layerTokenEndpoint(options))
  const v2 = yield* ofEndpoint(AuthV2.layerTokenEndpoint(options))
  const failure = (fault: Fault.Fault) =>
    Effect.gen(function*() {
      yield* simulator.failTokenRequests(fault)
      const { requestToken } = yield* TokenEndpoint.TokenEndpoint
      return yield* outcomes(requestToken({ _tag: "Nothing" }))
    }).pipe(Effect.provide(AuthV2.layerTokenEndpoint(options)))
  const failed = yield* failure(leaks.failed)
  const invalid = yield* failure(leaks.illTyped)
  const refused = yield* failure(leaks.refused)
  const reset = yield* failure(leaks.reset)

  const core: Record<string, unknown> = {
    ...membersOf("AccessScope", AccessScope),
    "AccessScope.config": yield* ofConfig({ scopes: AccessScope.config }),
    "AccessToken.AccessToken": [AccessToken.AccessToken, token(canary), { token: token(tokenPrefix) }, [token(canary)]],
    "AccessTokens.AccessTokens": AccessTokens.AccessTokens,
    ...membersOf("Adapter", Adapter),
    "AccessTokens.layer": yield* ofSupply(AccessTokens.layer().pipe(Layer.provide(AuthV2.layerTokenEndpoint(options)))),
    "AccessTokens.layerTest": yield* Effect.gen(function*() {
      const tokens = yield* AccessTokens.AccessTokens
      return [tokens, yield* tokens.get, yield* tokens.status]
    }).pipe(Effect.provide(AccessTokens.layerTest({ secret: Redacted.make(canary) }))),
    "AccessTokens.make": yield* outcomes(
      AccessTokens.make().pipe(Effect.provide(AuthV2.layerTokenEndpoint(options)))
    ),
    "ClientCredentials.config": yield* ofConfig(ClientCredentials.config),
    "Environment.url": yield* ofConfig({ url: Environment.url("CREDIT_DATA_BASE_URL") }),
    "Environment.config": yield* ofConfig(Environment.config),
    "TokenEndpoint.TokenEndpoint": [TokenEndpoint.TokenEndpoint, v2],
    ...membersOf("TokenError", TokenError),
    "TokenError.InvalidClient": refused,
    "TokenError.InvalidResponse": invalid,
    "TokenError.ServerError": failed,
    "TokenError.TokenError": [
      TokenError.TokenError,
      [refused, failed, invalid, reset].flat().filter(TokenError.isTokenError).map((error) =>
        Schema.encodeSync(TokenError.TokenError)(error)
      )
    ],
    "TokenError.TransportError": reset,
    "TokenError.retryWhenDue": yield* outcomes(TokenError.retryWhenDue(Effect.fail(refused[2]), { times: 0 })),
    ...membersOf("TokenStatus", TokenStatus),
    "Variables.invalid": Variables.invalid(["deadline"], "Expected a duration"),
    "Variables.literal": yield* ofConfig({
      literal: Variables.literal("CREDIT_DATA_SCOPES", { description: "a few values", values: ["one"] })
    }),
    "Variables.redacted": yield* ofConfig({
      redacted: Variables.redacted("CREDIT_DATA_CLIENT_SECRET", {
        description: "a secret",
        problem: () => "Expected another secret"
      })
    }),
    "Variables.read": yield* outcomes(
      Variables.read(ClientCredentials.config).pipe(Effect.withConfigProvider(configFromCanaries))
    ),
    ...membersOf("TokenEvent", TokenEvent),
    "TokenEvent.Failed": refused.filter(TokenError.isTokenError).map((error) =>
      TokenEvent.Failed({ at, tokenEndpoint, reason: "Nothing", duration: Duration.millis(100), error })
    )
  }

  // the pause that `AccessTokens.layer` started ends before the groups request a token
  yield* TestClock.adjust("1 hour")

  const httpClient: Record<string, unknown> = {
    "DataAccess.layer": DataAccess.layer(),
    "EnablementServices.layer": EnablementServices.layer(),
    "Furnishment.layer": Furnishment.layer(),
    "DataAccess.DataAccess": yield* ofGroup(DataAccess.DataAccess, DataAccess.layer(), "/data-access/a"),
    "EnablementServices.EnablementServices": yield* ofGroup(
      EnablementServices.EnablementServices,
      EnablementServices.layer(),
      "/enablement-services/a"
    ),
    "Fetch.make": yield* ofFetch,
    "Furnishment.Furnishment": yield* ofGroup(Furnishment.Furnishment, Furnishment.layer(), "/furnishment/a"),
    ...membersOf("GroupClient", GroupClient),
    "InsufficientScope.InsufficientScope": new InsufficientScope.InsufficientScope({
      environment: "n",
      needed: "furnishment:all",
      granted: scopes
    })
  }

  const key = Redacted.make(canary)
  const admin = yield* Layer.build(SimulatorConsole.layer({ key }))
  const simulated: Record<string, unknown> = {
    ...membersOf("Fault", { ...Fault, Response: Fault.Response({ status: 500 }), Reset: Fault.Reset() }),
    "SimulatorConsole.SimulatorConsole": Context.get(admin, SimulatorConsole.SimulatorConsole),
    "SimulatorConsole.layer": admin,
    ...membersOf("Change", Change),
    "Change.Request": yield* Stream.runHead(simulator.changes(-1)),
    ...membersOf("Fixture", Fixture),
    "FixtureError.FixtureError": new FixtureError.FixtureError({ file: "f", reason: "r" }),
    ...membersOf("Received", Received),
    "Simulator.Simulator": [
      simulator,
      yield* simulator.credentials,
      yield* simulator.received,
      yield* simulator.tokens,
      yield* simulator.faults
    ],
    "Simulator.layer": yield* Layer.build(Simulator.layer({ credentials })),
    // only the effect: its result contains the secret in clear text on purpose
    "Simulator.variables": Simulator.variables,
    "Simulator.layerConfigProvider": yield* Layer.build(Simulator.layerConfigProvider)
  }

  const telemetry = yield* ofTelemetry(AuthV2.layer(options))

  const sharedEndpoint = AuthV2.layerTokenEndpoint(options)
  const overMemory = Layer.mergeAll(sharedEndpoint, TokenStore.layerMemory)
  const redis = RedisTokenStore.layer({ url: Redacted.make(`redis://user:${canary}@127.0.0.1:1`) })

  // the pause that the last refusal started ends before the migration requests its tokens
  yield* TestClock.adjust("1 hour")
  const plan: Plan.Plan = { stage: "v2" }
  const supplies = { v1: AuthV1.layer(options), v2: AuthV2.layer(options) }
  const supplyTest = yield* Effect.provide(AccessTokens.AccessTokens, AccessTokens.layerTest())
  const migration: Record<string, unknown> = {
    "Comparison.Problem": Comparison.Problem.NoTokenFromV1({ error: connectionReset }),
    "Comparison.compare": yield* outcomes(Comparison.compare({ v1: supplyTest, v2: supplyTest })),
    "Migration.Migration": Migration.Migration,
    "Migration.layer": yield* ofMigration(Migration.layer({ ...supplies, plan: Effect.succeed(plan) })),
    "Migration.layerConfig": yield* fromCanaries(Migration.layerConfig()),
    "Plan.config": yield* ofConfig(Plan.config),
    "Plan.read": yield* outcomes(
      Plan.read.pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["CREDIT_DATA_AUTH", canary]]))))
    )
  }

  return {
    core,
    fleet: {
      "SharedTokens.layer": yield* ofSupply(Layer.provide(SharedTokens.layer(), overMemory)),
      "SharedTokens.read": yield* Effect.gen(function*() {
        yield* Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get)
        return yield* outcomes(SharedTokens.read)
      }).pipe(Effect.provide(Layer.provideMerge(SharedTokens.layer(), overMemory))),
      "SharedTokens.make": yield* outcomes(Effect.provide(SharedTokens.make(), overMemory)),
      "StoreError.StoreError": new StoreError.StoreError({ reason: "Refused", code: "OOM" }),
      "TokenStore.TokenStore": TokenStore.TokenStore,
      "TokenStore.layerFileSystem": yield* outcomes(
        Layer.build(TokenStore.layerFileSystem({ directory: canary })).pipe(Effect.provide(FileSystem.layerNoop({})))
      ),
      "TokenStore.layerMemory": yield* ofStore(TokenStore.layerMemory),
      "TokenStore.maxValueSize": TokenStore.maxValueSize
    },
    "store-redis": {
      "RedisTokenStore.layer": [
        yield* ofStore(redis),
        yield* outcomes(Layer.build(RedisTokenStore.layer({ url: Redacted.make(canary) })))
      ],
      "RedisTokenStore.layerClient": yield* ofStore(
        RedisTokenStore.layerClient({
          client: new Redis({ lazyConnect: true, password: canary, port: 1, retryStrategy: () => null })
        })
      ),
      "RedisTokenStore.layerConfig": yield* outcomes(
        Layer.build(RedisTokenStore.layerConfig()).pipe(
          Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["CREDIT_DATA_REDIS_URL", canary]])))
        )
      )
    },
    "auth-v1": membersOf("AuthV1", yield* ofAdapter(AuthV1, AuthV1.layer(broken), v1)),
    "auth-v2": membersOf("AuthV2", yield* ofAdapter(AuthV2, AuthV2.layer(broken), v2)),
    "http-client": httpClient,
    migration,
    simulator: simulated,
    telemetry
  }
})
