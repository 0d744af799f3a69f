import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { SharedTokens, TokenStore } from "@credit-data/fleet"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { type ConfigError, ConfigProvider, Context, Effect, Layer, LayerMap, ManagedRuntime, Redacted } from "effect"

/** The variables of a tenant. */
const providerOf = (id: string) =>
  ConfigProvider.fromMap(
    new Map([
      ["CREDIT_DATA_ENVIRONMENT", "test"],
      ["CREDIT_DATA_AUDIENCE", "audience"],
      ["CREDIT_DATA_BASE_URL", "https://api.example"],
      ["CREDIT_DATA_AUTH_V2_URL", "https://v2.example"],
      ["CREDIT_DATA_CLIENT_ID", id],
      ["CREDIT_DATA_CLIENT_SECRET", `the secret of the tenant ${id}, which is long`],
      ["CREDIT_DATA_SCOPES", "data-access:all"]
    ])
  )
const tenant = (id: string) => Layer.setConfigProvider(providerOf(id))

/** A server that puts the client id into each token. */
const makeServer = () => {
  const server = { requests: 0 }
  const Http = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.sync(() => {
        server.requests++
        const form = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
        const id = new URLSearchParams(form).get("client_id")
        return HttpClientResponse.fromWeb(
          request,
          Response.json({
            access_token: `token-of-${id}`,
            scope: "data-access:all",
            expires_in: 3600,
            token_type: "Bearer"
          })
        )
      })
    )
  )
  return { server, Http }
}

const text = Effect.flatMap(
  AccessTokens.AccessTokens,
  (tokens) => Effect.map(tokens.get, ({ secret }) => Redacted.value(secret))
)

describe("one layer const for several tenants", () => {
  it.live("gives each tenant its own token in a LayerMap whose lookup provides the variables of the tenant", () =>
    Effect.gen(function*() {
      const { Http, server } = makeServer()
      const Auth = AuthV2.layerConfig()
      const tenants = yield* LayerMap.make((id: string) => Auth.pipe(Layer.provide([tenant(id), Http])))
      // held open, because a layer of the map ends with its last user
      yield* Effect.forEach(["a", "b"], (id) => Layer.build(tenants.get(id)))
      const texts = yield* Effect.forEach(["a", "b", "a"], (id) => Effect.provide(text, tenants.get(id)))
      assert.deepStrictEqual(texts, ["token-of-a", "token-of-b", "token-of-a"])
      assert.strictEqual(server.requests, 2)
    }).pipe(Effect.scoped))

  it.live("gives each tenant its own token in a LayerMap whose lookup composes layers that are bound to consts", () =>
    Effect.gen(function*() {
      const { Http } = makeServer()
      const Shared = SharedTokens.layer()
      const Endpoint = AuthV2.layerTokenEndpointConfig()
      const tokensOf = (lookup: (id: string) => Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError>) =>
        Effect.gen(function*() {
          const tenants = yield* LayerMap.make(lookup)
          yield* Effect.forEach(["a", "b"], (id) => Layer.build(tenants.get(id)))
          return yield* Effect.forEach(["a", "b"], (id) => Effect.provide(text, tenants.get(id)))
        })
      const composed = () => Shared.pipe(Layer.provide(Endpoint), Layer.provide(TokenStore.layerMemory))
      const texts = yield* tokensOf((id) => composed().pipe(Layer.provide([tenant(id), Http])))
      assert.deepStrictEqual(texts, ["token-of-a", "token-of-b"])
      // Effect reuses what a program has composed itself, as docs/tenants.md says
      const Composed = composed()
      const reused = yield* tokensOf((id) => Composed.pipe(Layer.provide([tenant(id), Http])))
      assert.deepStrictEqual(reused, ["token-of-a", "token-of-a"])
      const fresh = yield* tokensOf((id) => Layer.fresh(Composed).pipe(Layer.provide([tenant(id), Http])))
      assert.deepStrictEqual(fresh, ["token-of-a", "token-of-b"])
    }).pipe(Effect.scoped))

  it.live("gives each tenant its own token where each has its own ManagedRuntime", () =>
    Effect.gen(function*() {
      const { Http } = makeServer()
      const Auth = AuthV2.layerConfig()
      for (const id of ["a", "b"]) {
        const runtime = ManagedRuntime.make(Auth.pipe(Layer.provide([tenant(id), Http])))
        assert.strictEqual(yield* Effect.promise(() => runtime.runPromise(text)), `token-of-${id}`)
      }
    }))

  it.live("gives each tenant its own token where a service of any type says which tenant it is", () =>
    Effect.gen(function*() {
      const { Http, server } = makeServer()
      const Variables = tenant("shared")
      const credentialsOf = (clientId: string) => ({ clientId, clientSecret: Redacted.make(`secret-of-${clientId}`) })
      const textWith = <R>(id: Effect.Effect<string, never, R>, as: (id: string) => Layer.Layer<R>) => {
        const Auth = AuthV2.layerConfig({ credentials: Effect.map(id, credentialsOf) })
        return Effect.gen(function*() {
          const uses = ["a", "b", "a"].map((id) => Auth.pipe(Layer.provide([as(id), Variables, Http])))
          // held open, because a supply ends with its last user
          yield* Effect.forEach(uses, (use) => Layer.build(use))
          return yield* Effect.forEach(uses, (use) => Effect.provide(text, use))
        })
      }
      class Name extends Context.Tag("Name")<Name, string>() {}
      class Read extends Context.Tag("Read")<Read, () => string>() {}
      const a = () => "a"
      const b = () => "b"
      const readers = [
        textWith(Name, (id) => Layer.succeed(Name, id)),
        textWith(
          Effect.map(Read, (read) => read()),
          (id) => Layer.succeed(Read, id === "a" ? a : b)
        )
      ]
      for (const texts of readers) {
        server.requests = 0
        assert.deepStrictEqual(yield* texts, ["token-of-a", "token-of-b", "token-of-a"])
        assert.strictEqual(server.requests, 2)
      }
    }).pipe(Effect.scoped))

  it.live("shares one supply between all uses with the same variables", () =>
    Effect.gen(function*() {
      const { Http, server } = makeServer()
      const Auth = AuthV2.layerConfig()
      const both = Layer.mergeAll(
        Layer.effectDiscard(text).pipe(Layer.provide(Auth)),
        Layer.effectDiscard(text).pipe(Layer.provide(Auth))
      ).pipe(Layer.provide([tenant("a"), Http]))
      yield* Layer.build(both)
      assert.strictEqual(server.requests, 1)
    }).pipe(Effect.scoped))

  it.live("reads the usual variable where an option is undefined", () =>
    Effect.gen(function*() {
      const { Http } = makeServer()
      const Auth = AuthV2.layerConfig({ clientSecret: undefined, scopes: undefined, environment: undefined })
      assert.strictEqual(yield* Effect.provide(text, Auth.pipe(Layer.provide([tenant("a"), Http]))), "token-of-a")
    }))
})
