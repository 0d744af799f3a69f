import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, ClientCredentials, TokenEndpoint } from "@credit-data/core"
import { SharedTokens, TokenStore } from "@credit-data/fleet"
import { DataAccess, Fetch, GroupClient } from "@credit-data/http-client"
import { Telemetry } from "@credit-data/telemetry"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import {
  type ConfigError,
  ConfigProvider,
  Context,
  Duration,
  Effect,
  Fiber,
  Layer,
  LayerMap,
  Redacted,
  type Scope,
  TestClock
} from "effect"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import { granted } from "../src/servers.ts"

/** A server that puts the client id into each token, and what it received: the clients of token requests, and the calls. */
const recording = () => {
  const clients: Array<string> = []
  const calls: Array<string> = []
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      if (!request.url.endsWith("/oauth2/token")) {
        calls.push(`${new URL(request.url).host} ${request.headers["authorization"]}`)
        return HttpClientResponse.fromWeb(request, new Response())
      }
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
      const clientId = new URLSearchParams(body).get("client_id") ?? ""
      clients.push(clientId)
      const token = { ...granted(0), access_token: `token-of-${clientId}` }
      return HttpClientResponse.fromWeb(request, Response.json(token))
    })
  )
  return { Http: Layer.succeed(HttpClient.HttpClient, client), calls, clients }
}

/** The variables of a client with this id, in an environment with the same name. */
const providerOf = (id: string) =>
  ConfigProvider.fromMap(
    new Map(Object.entries({
      CREDIT_DATA_ENVIRONMENT: id,
      CREDIT_DATA_AUDIENCE: "audience",
      CREDIT_DATA_BASE_URL: `https://api.${id}.example`,
      CREDIT_DATA_AUTH_V2_URL: `https://auth.${id}.example`,
      CREDIT_DATA_CLIENT_ID: id,
      CREDIT_DATA_CLIENT_SECRET: `the secret of ${id}, which is long enough`,
      CREDIT_DATA_SCOPES: "data-access:all"
    }))
  )
const variablesOf = (id: string) => Layer.setConfigProvider(providerOf(id))

const credentialsOf = (clientId: string) => ({ clientId, clientSecret: Redacted.make(`the secret of ${clientId}`) })

const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a"))
const tokenText = Effect.flatMap(
  AccessTokens.AccessTokens,
  (tokens) => Effect.map(tokens.get, ({ secret }) => Redacted.value(secret))
)

/** Runs the effect where the layer is provided, and once more where it is provided again inside. */
const nested = <R, E>(
  effect: Effect.Effect<unknown, unknown, R>,
  outside: Layer.Layer<R, E>,
  inside: (effect: Effect.Effect<unknown, unknown, R>) => Effect.Effect<unknown, unknown>
) => Effect.provide(Effect.zipRight(effect, inside(effect)), outside)

/** The tokens of these tenants from a LayerMap. Its layers are held open, because each ends with its last user. */
const tokensOf = <R>(
  ids: ReadonlyArray<string>,
  lookup: (id: string) => Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError, R>
) =>
  Effect.gen(function*() {
    const tenants = yield* LayerMap.make(lookup)
    yield* Effect.forEach(ids, (id) => Layer.build(tenants.get(id)))
    return yield* Effect.forEach(ids, (id) => Effect.provide(tokenText, tenants.get(id)))
  })

describe("a layer const that is provided again inside", () => {
  it.effect("is built again under another ConfigProvider", () =>
    Effect.gen(function*() {
      const { Http, calls, clients } = recording()
      const Auth = AuthV2.layerConfig()
      const clientsOf = () => DataAccess.layer().pipe(Layer.provide(Auth), Layer.provide(Http))
      yield* nested(call, clientsOf(), (again) =>
        again.pipe(Effect.provide(clientsOf()), Effect.withConfigProvider(providerOf("b")))).pipe(
          Effect.withConfigProvider(providerOf("a"))
        )
      assert.deepStrictEqual(clients, ["a", "b"])
      assert.deepStrictEqual(calls, ["api.a.example Bearer token-of-a", "api.b.example Bearer token-of-b"])
    }))

  it.effect("is built again over another supply, and so calls its API", () =>
    Effect.gen(function*() {
      const { Http, calls } = recording()
      const Group = DataAccess.layer()
      const of = (name: string) => {
        const environment = { baseUrl: `https://api.${name}.example` }
        const tokens = AccessTokens.layerTest({ secret: Redacted.make(`token-of-${name}`), environment })
        return Group.pipe(Layer.provide(tokens), Layer.provide(Http))
      }
      yield* nested(call, of("a"), (again) => Effect.provide(again, of("b")))
      assert.deepStrictEqual(calls, ["api.a.example Bearer token-of-a", "api.b.example Bearer token-of-b"])
    }))

  // Effect 4 reuses what a program has composed itself, whatever it is provided with
  it.effect("is built again within the program's own composition if that is fresh", () =>
    Effect.gen(function*() {
      const { Http, clients } = recording()
      const Clients = DataAccess.layer().pipe(Layer.provide(AuthV2.layerConfig()), Layer.provide(Http))
      yield* nested(call, Clients, (again) =>
        again.pipe(Effect.provide(Layer.fresh(Clients)), Effect.withConfigProvider(providerOf("b")))).pipe(
          Effect.withConfigProvider(providerOf("a"))
        )
      assert.deepStrictEqual(clients, ["a", "b"])
    }))

  it.effect("is shared by everything that is provided together", () =>
    Effect.gen(function*() {
      const { Http, clients } = recording()
      const Auth = AuthV2.layerConfig()
      const Clients = Layer.mergeAll(DataAccess.layer(), DataAccess.layer({ propagateTrace: true })).pipe(
        Layer.provideMerge(Auth)
      )
      const other = Layer.provide(Layer.effectDiscard(tokenText), Auth)
      yield* call.pipe(
        Effect.provide(Layer.provide(Layer.merge(Clients, other), Http)),
        Effect.withConfigProvider(providerOf("a"))
      )
      assert.deepStrictEqual(clients, ["a"])
    }))
})

describe("one layer const for several tenants", () => {
  it.scopedLive("gives each tenant its own token in a LayerMap whose lookup provides the variables of the tenant", () =>
    Effect.gen(function*() {
      const { Http, clients } = recording()
      const Auth = AuthV2.layerConfig()
      const texts = yield* tokensOf(["a", "b", "a"], (id) => Auth.pipe(Layer.provide([variablesOf(id), Http])))
      assert.deepStrictEqual(texts, ["token-of-a", "token-of-b", "token-of-a"])
      assert.deepStrictEqual(clients, ["a", "b"])
    }))

  it.scopedLive("gives each client its own token, whichever is built first, if it reads its variables in its own layer", () =>
    Effect.gen(function*() {
      const { Http } = recording()
      const Auth = AuthV2.layerConfig()
      const ofPartner = Auth.pipe(Layer.locallyEffect(Effect.withConfigProvider(providerOf("partner"))))
      const textsOf = (...layers: ReadonlyArray<typeof Auth>) =>
        Effect.forEach(
          layers,
          (layer) =>
            Effect.flatMap(Layer.build(Layer.provide(layer, Http)), (context) => Effect.provide(tokenText, context))
        ).pipe(
          Effect.withConfigProvider(providerOf("main"))
        )
      assert.deepStrictEqual(yield* textsOf(Auth, ofPartner), ["token-of-main", "token-of-partner"])
      assert.deepStrictEqual(yield* textsOf(ofPartner, Auth), ["token-of-partner", "token-of-main"])
    }))

  it.scopedLive("gives each tenant its own token in a LayerMap whose lookup composes layers that are bound to consts", () =>
    Effect.gen(function*() {
      const { Http } = recording()
      const Shared = SharedTokens.layer()
      const Endpoint = AuthV2.layerTokenEndpointConfig()
      const composed = () => Shared.pipe(Layer.provide(Endpoint), Layer.provide(TokenStore.layerMemory))
      // Effect reuses what a program has composed itself, as docs/tenants.md says
      const Composed = composed()
      const rows = [
        [composed, ["token-of-a", "token-of-b"]],
        [() => Composed, ["token-of-a", "token-of-a"]],
        [() => Layer.fresh(Composed), ["token-of-a", "token-of-b"]]
      ] as const
      for (const [layer, expected] of rows) {
        const texts = yield* tokensOf(["a", "b"], (id) => layer().pipe(Layer.provide([variablesOf(id), Http])))
        assert.deepStrictEqual(texts, [...expected])
      }
    }))

  class Name extends Context.Tag("Name")<Name, string>() {}
  class Read extends Context.Tag("Read")<Read, () => string>() {}

  type Source<R> = ClientCredentials.Source<never, R>

  /** The tokens of tenants that a service of the program identifies. */
  const tokensBy = <R>(credentials: Source<R>, as: (id: string) => Layer.Layer<R>) =>
    Effect.gen(function*() {
      const { Http, clients } = recording()
      const Auth = AuthV2.layerConfig({ credentials })
      // a tenant has one value, because functions are the same only if they are identical
      const services = new Map(["a", "b"].map((id) => [id, as(id)] as const))
      const texts = yield* tokensOf(
        ["a", "b", "a"],
        (id) => Auth.pipe(Layer.provide([services.get(id) ?? as(id), variablesOf("shared"), Http]))
      )
      return { clients, texts }
    })

  it.scopedLive("gives each tenant its own token where a service of any type says which tenant it is", () =>
    Effect.gen(function*() {
      const expected = { clients: ["a", "b"], texts: ["token-of-a", "token-of-b", "token-of-a"] }
      const credentialsBy = (id: string) => Effect.sync(() => credentialsOf(id))
      const byText = yield* tokensBy(ClientCredentials.from(Name, credentialsBy), (id) => Layer.succeed(Name, id))
      assert.deepStrictEqual(byText, expected)
      const byFunction = yield* tokensBy(
        ClientCredentials.from(Read, (read) => credentialsBy(read())),
        (id) => Layer.succeed(Read, () => id)
      )
      assert.deepStrictEqual(byFunction, expected)
    }))
})

describe("one layer const whose credentials come from an effect", () => {
  class Sql extends Context.Tag("Sql")<Sql, object>() {}
  class Secrets extends Context.Tag("Secrets")<Secrets, { readonly read: Effect.Effect<string, Error> }>() {}
  const Unrelated = Layer.sync(Sql, () => ({}))
  const secretsOf = (id: string) => Layer.succeed(Secrets, { read: Effect.succeed(id) })
  const secretsOfA = secretsOf("a")
  const shared = providerOf("shared")

  type Use = Effect.Effect<Context.Context<AccessTokens.AccessTokens>, unknown, Scope.Scope | Secrets>

  /** The uses of one const in one program, of which each changes something around it. */
  const uses = (...around: ReadonlyArray<(use: Use) => Use>) =>
    Effect.gen(function*() {
      const { Http, clients } = recording()
      const credentials = ClientCredentials.from(Secrets, ({ read }) => Effect.map(read, credentialsOf))
      const Auth = AuthV2.layerConfig({ credentials })
      const supplies = yield* Effect.forEach(around, (change) =>
        change(Layer.build(Layer.provideMerge(Auth, Http))).pipe(
          Effect.flatMap((context) => Effect.provide(Effect.zipRight(tokenText, AccessTokens.AccessTokens), context))
        )).pipe(Effect.provide(secretsOfA), Effect.withConfigProvider(shared))
      return { clients, supplies: new Set(supplies).size }
    })

  it.scoped("has one supply, although a part of the program has an unrelated service", () =>
    Effect.gen(function*() {
      const result = yield* uses(
        (use) => use,
        (use) => Effect.provide(use, Unrelated),
        (use) => use.pipe(Effect.withConfigProvider(shared)),
        (use) => Effect.provide(use, secretsOfA)
      )
      assert.deepStrictEqual(result, { clients: ["a"], supplies: 1 })
    }))

  it.scoped("has two supplies with another secret manager under the same ConfigProvider", () =>
    Effect.gen(function*() {
      const result = yield* uses((use) => use, (use) => Effect.provide(use, secretsOf("b")), (use) => use)
      assert.deepStrictEqual(result, { clients: ["a", "b"], supplies: 2 })
    }))

  it.scoped("has two supplies with another ConfigProvider or another Clock", () =>
    Effect.gen(function*() {
      const other = yield* uses((use) => use, (use) => use.pipe(Effect.withConfigProvider(providerOf("other"))))
      assert.deepStrictEqual(other, { clients: ["a", "a"], supplies: 2 })
      const clock = yield* uses((use) => use, (use) => use.pipe(Effect.withClock(VirtualClock.make().clock)))
      assert.deepStrictEqual(clock, { clients: ["a", "a"], supplies: 2 })
    }))

  it.scoped("has two supplies with another HttpClient", () =>
    Effect.gen(function*() {
      const [one, other] = [recording(), recording()]
      const Auth = AuthV2.layerConfig()
      for (const { Http } of [one, other, one]) {
        const context = yield* Layer.build(Layer.provide(Auth, Http)).pipe(Effect.withConfigProvider(shared))
        yield* Effect.provide(tokenText, context)
      }
      assert.deepStrictEqual([one.clients, other.clients], [["shared"], ["shared"]])
    }))

  it.scoped("is built again after a failure, and after its last user has gone", () =>
    Effect.gen(function*() {
      const { Http, clients } = recording()
      let reads = 0
      const credentials = Effect.suspend(() =>
        ++reads === 1 ? Effect.fail("no secret yet") : Effect.succeed(credentialsOf("a"))
      )
      const Auth = Layer.provide(AuthV2.layerConfig({ credentials }), Http)
      const use = Effect.provide(tokenText, Auth).pipe(Effect.withConfigProvider(shared))
      assert.strictEqual(yield* Effect.flip(use), "no secret yet")
      yield* use
      yield* use
      assert.deepStrictEqual(clients, ["a", "a"])
    }))

  it.scoped("has one supply for uses that begin together, even if the first one is interrupted", () =>
    Effect.gen(function*() {
      const { Http, clients } = recording()
      const slow = Effect.delay(Effect.succeed(credentialsOf("a")), "1 second")
      const Auth = Layer.provide(AuthV2.layerConfig({ credentials: slow }), Http)
      const use = Layer.build(Auth).pipe(Effect.withConfigProvider(providerOf("a")))
      const [first, second, third] = [yield* Effect.fork(use), yield* Effect.fork(use), yield* Effect.fork(use)]
      yield* TestClock.adjust("500 millis")
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("2 seconds")
      const supplies = yield* Effect.forEach(
        [second, third],
        (fiber) => Effect.map(Fiber.join(fiber), Context.get(AccessTokens.AccessTokens))
      )
      assert.lengthOf(new Set(supplies), 1)
      yield* Effect.forEach(supplies, ({ get }) => get)
      assert.deepStrictEqual(clients, ["a"])
    }))

  it.live("reads the usual variable where an option is undefined", () =>
    Effect.gen(function*() {
      const { Http } = recording()
      const Auth = AuthV2.layerConfig({ clientSecret: undefined, scopes: undefined, environment: undefined })
      const text = yield* Effect.provide(tokenText, Auth.pipe(Layer.provide([variablesOf("a"), Http])))
      assert.strictEqual(text, "token-of-a")
    }))
})

describe("a layer const shares what is built where each of its sources is the same object", () => {
  class Manager extends Context.Tag("Manager")<Manager, {
    readonly read: Effect.Effect<ClientCredentials.ClientCredentials>
  }>() {}
  type Service =
    | AccessTokens.AccessTokens
    | HttpClient.HttpClient
    | Manager
    | TokenEndpoint.TokenEndpoint
    | TokenStore.TokenStore

  const environment = { name: "test", audience: "audience", baseUrl: "https://api.example" }
  const usual = Effect.succeed({
    clientId: "a",
    clientSecret: Redacted.make("a client secret of at least 32 characters")
  })

  /** What makes another object of each service, with the same values. */
  const others = {
    AccessTokens: () => AccessTokens.layerTest({ environment }),
    HttpClient: () => recording().Http,
    Manager: () => Layer.succeed(Manager, { read: usual }),
    TokenEndpoint: () =>
      Layer.succeed(TokenEndpoint.TokenEndpoint, {
        environment,
        url: "https://auth.example/token",
        requestedScopes: ["data-access:all"],
        deadline: Duration.seconds(1),
        credentials: { current: usual, reread: usual },
        requestToken: () => Effect.never
      }),
    TokenStore: () => TokenStore.layerMemory
  }
  type Other = keyof typeof others | "ConfigProvider" | "Clock"
  const another = (service: keyof typeof others): Layer.Layer<never> => others[service]()

  const rows: ReadonlyArray<
    readonly [
      name: string,
      layer: Layer.Layer<never, unknown, Service>,
      tag: { readonly key: string },
      sources: ReadonlyArray<Other>
    ]
  > = [
    ["AuthV2.layerConfig", AuthV2.layerConfig(), AccessTokens.AccessTokens, ["HttpClient"]],
    [
      "AuthV2.layerConfig with a secret manager",
      AuthV2.layerConfig({ credentials: ClientCredentials.from(Manager, ({ read }) => read) }),
      AccessTokens.AccessTokens,
      ["HttpClient", "Manager"]
    ],
    ["AuthV2.layerTokenEndpointConfig", AuthV2.layerTokenEndpointConfig(), TokenEndpoint.TokenEndpoint, ["HttpClient"]],
    ["AccessTokens.layer", AccessTokens.layer(), AccessTokens.AccessTokens, ["TokenEndpoint"]],
    ["SharedTokens.layer", SharedTokens.layer(), AccessTokens.AccessTokens, ["TokenEndpoint", "TokenStore"]],
    ["DataAccess.layer", DataAccess.layer(), DataAccess.DataAccess, ["AccessTokens", "HttpClient"]]
  ]
  for (const [name, layer, { key }, named] of rows) {
    const sources: ReadonlyArray<Other> = ["ConfigProvider", "Clock", ...named]
    it.scoped(`${name}: ${sources.join(", ")}`, () =>
      Effect.gen(function*() {
        const provider = providerOf("a")
        const clock = VirtualClock.make().clock
        const usualServices: Context.Context<Service> = yield* Layer.build(
          Layer.mergeAll(
            others.AccessTokens(),
            others.HttpClient(),
            others.Manager(),
            others.TokenEndpoint(),
            others.TokenStore()
          )
        )
        const built = Effect.fnUntraced(function*(changed?: Other) {
          const services: Context.Context<never> =
            changed === undefined || changed === "ConfigProvider" || changed === "Clock"
              ? Context.empty()
              : yield* Layer.build(another(changed))
          const context = yield* Layer.build(layer).pipe(
            Effect.provide(Context.merge(usualServices, services)),
            Effect.withConfigProvider(changed === "ConfigProvider" ? providerOf("a") : provider),
            Effect.withClock(changed === "Clock" ? VirtualClock.make().clock : clock)
          )
          return context.unsafeMap.get(key)
        })
        const first = yield* built()
        for (const source of sources) assert.notStrictEqual(yield* built(source), first, source)
        for (const other of ["AccessTokens", "HttpClient", "Manager", "TokenEndpoint", "TokenStore"] as const) {
          if (!sources.includes(other)) assert.strictEqual(yield* built(other), first, `an unrelated ${other}`)
        }
        assert.strictEqual(yield* built(), first)
      }))
  }
})

describe("a lookup whose whole result is wrapped in Layer.fresh", () => {
  class Reports extends Context.Tag("test/Reports")<Reports, GroupClient.GroupClient<"Reports">>() {}
  class PlainClient extends Context.Tag("test/PlainClient")<PlainClient, HttpClient.HttpClient>() {}
  /** A service of the program over the client of a group. */
  class Consumers extends Context.Tag("test/Consumers")<Consumers, {
    readonly read: Effect.Effect<unknown, unknown>
  }>() {}

  // as constants, which Effect memoizes by their reference
  const Auth = AuthV2.layerConfig()
  const Shared = SharedTokens.layer().pipe(
    Layer.provide(AuthV2.layerTokenEndpointConfig()),
    Layer.provide(TokenStore.layerMemory)
  )
  const Measured = Telemetry.layer().pipe(Layer.provideMerge(Auth))
  const Data = DataAccess.layer()
  const ReportsLive = GroupClient.layer(Reports, { name: "Reports", scope: "data-access:all" })
  const ReportsByHand = Layer.effect(Reports, GroupClient.make({ name: "Reports", scope: "data-access:all" }))
  const Plain = Layer.effect(PlainClient, Effect.map(DataAccess.DataAccess, GroupClient.toHttpClient))
  const ConsumersLive = Layer.effect(
    Consumers,
    Effect.map(DataAccess.DataAccess, (client) => ({ read: client.get("/a") }))
  )
  const Fetching = Layer.scoped(
    Consumers,
    Effect.map(
      Fetch.make({
        name: "Data Access",
        scope: "data-access:all",
        fetch: async (_, init) => Response.json(new Headers(init?.headers).get("authorization"))
      }),
      (fetch) => ({ read: Effect.promise(() => fetch("/a").then((response) => response.json())) })
    )
  )

  const get = { url: "/a" }
  const readReports = Effect.flatMap(Reports, (client) => client.get(get.url))
  const readPlain = Effect.flatMap(PlainClient, (client) => client.get(get.url))
  const readConsumers = Effect.flatMap(Consumers, ({ read }) => read)

  type Services = Reports | Consumers | DataAccess.DataAccess | PlainClient
  type Use = Effect.Effect<unknown, unknown, Services>
  type Clients = Layer.Layer<Services, unknown, HttpClient.HttpClient>

  const Rest = Layer.mergeAll(ReportsByHand, ConsumersLive, Plain)

  const compositions: ReadonlyArray<readonly [name: string, clients: Clients, use: Use]> = [
    ["the client of a group", Rest.pipe(Layer.provideMerge(Data), Layer.provide(Auth)), call],
    [
      "GroupClient.layer",
      Layer.merge(ConsumersLive, Plain).pipe(Layer.provideMerge(Data), Layer.merge(ReportsLive), Layer.provide(Auth)),
      readReports
    ],
    ["GroupClient.make", Rest.pipe(Layer.provideMerge(Data), Layer.provide(Auth)), readReports],
    ["GroupClient.toHttpClient", Rest.pipe(Layer.provideMerge(Data), Layer.provide(Auth)), readPlain],
    ["a service of the program", Rest.pipe(Layer.provideMerge(Data), Layer.provide(Auth)), readConsumers],
    [
      "Fetch.make",
      Layer.mergeAll(ReportsByHand, Fetching, Plain).pipe(Layer.provideMerge(Data), Layer.provide(Auth)),
      readConsumers
    ],
    ["SharedTokens.layer", Rest.pipe(Layer.provideMerge(Data), Layer.provide(Shared)), call],
    ["Telemetry.layer", Rest.pipe(Layer.provideMerge(Data), Layer.provide(Measured)), call]
  ]

  for (const [name, clients, use] of compositions) {
    it.scoped(`keeps tenants apart: ${name} as a constant`, () =>
      Effect.gen(function*() {
        const { Http, clients: requested } = recording()
        const seen: Array<string> = []
        let transports = 0
        const Transport = Layer.unwrapEffect(Effect.sync(() => {
          transports++
          return Http
        }))
        class Tenants extends LayerMap.Service<Tenants>()("Tenants", {
          lookup: (tenant: string) => Layer.fresh(clients.pipe(Layer.provide(variablesOf(tenant)))),
          idleTimeToLive: "1 hour"
        }) {}
        const context = yield* Layer.build(Layer.provide(Tenants.Default, Transport))
        for (const tenant of ["acme", "blue", "acme", "blue"]) {
          const used = Effect.provide(use, Tenants.get(tenant))
          const result = yield* Effect.provide(used, context)
          seen.push(JSON.stringify(result))
        }
        // one supply for each tenant, and one transport for all
        assert.deepStrictEqual(requested.toSorted(), ["acme", "blue"])
        assert.strictEqual(transports, 1)
        for (const [index, tenant] of ["acme", "blue", "acme", "blue"].entries()) {
          assert.include(seen[index] ?? "", tenant)
        }
      }))
  }
})
