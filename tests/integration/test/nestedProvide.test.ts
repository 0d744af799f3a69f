import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, Redacted } from "effect"
import { granted } from "../src/serverInMemory.ts"

/** What the transport has seen: the clients of the token requests, and the addresses and tokens of the calls. */
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
      const token = JSON.stringify({ ...granted(0), access_token: `token-of-${clientId}` })
      return HttpClientResponse.fromWeb(request, new Response(token))
    })
  )
  return { Http: Layer.succeed(HttpClient.HttpClient, client), calls, clients }
}

const configured = (name: string) =>
  ConfigProvider.fromMap(
    new Map(Object.entries({
      CREDIT_DATA_ENVIRONMENT: name,
      CREDIT_DATA_AUDIENCE: "audience",
      CREDIT_DATA_BASE_URL: `https://api.${name}.example`,
      CREDIT_DATA_AUTH_V2_URL: `https://auth.${name}.example`,
      CREDIT_DATA_CLIENT_ID: name,
      CREDIT_DATA_CLIENT_SECRET: "a secret",
      CREDIT_DATA_SCOPES: "data-access:all"
    }))
  )

const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a"))

/** Runs the effect where the layer is provided, and once more where it is provided again inside. */
const nested = <R, E>(
  effect: Effect.Effect<unknown, unknown, R>,
  outside: Layer.Layer<R, E>,
  inside: (effect: Effect.Effect<unknown, unknown, R>) => Effect.Effect<unknown, unknown>
) => Effect.provide(Effect.zipRight(effect, inside(effect)), outside)

class Tenant extends Context.Tag("Tenant")<Tenant, string>() {}

describe("a layer const that is provided again inside", () => {
  it.effect("is built again under another ConfigProvider", () =>
    Effect.gen(function*() {
      const { Http, calls, clients } = recording()
      const Auth = AuthV2.layerConfig()
      const clientsOf = () => DataAccess.layer().pipe(Layer.provide(Auth), Layer.provide(Http))
      yield* nested(call, clientsOf(), (again) =>
        again.pipe(Effect.provide(clientsOf()), Effect.withConfigProvider(configured("b")))).pipe(
          Effect.withConfigProvider(configured("a"))
        )
      assert.deepStrictEqual(clients, ["a", "b"])
      assert.deepStrictEqual(calls, ["api.a.example Bearer token-of-a", "api.b.example Bearer token-of-b"])
    }))

  it.effect("is built again under another service that its credentials require", () =>
    Effect.gen(function*() {
      const { Http, calls } = recording()
      const Auth = AuthV2.layer({
        environment: { name: "a", audience: "a", baseUrl: "https://api.example", authV2Url: "https://auth.example" },
        credentials: Effect.map(Tenant, (clientId) => ({ clientId, clientSecret: Redacted.make("a secret") })),
        scopes: ["data-access:all"]
      })
      const of = (tenant: string) =>
        DataAccess.layer().pipe(Layer.provide(Auth), Layer.provide(Http), Layer.provide(Layer.succeed(Tenant, tenant)))
      yield* nested(call, of("a"), (again) => Effect.provide(again, of("b")))
      assert.deepStrictEqual(calls, ["api.example Bearer token-of-a", "api.example Bearer token-of-b"])
    }))

  it.effect("is built again over another supply, and so calls its API", () =>
    Effect.gen(function*() {
      const { Http, calls } = recording()
      const Group = DataAccess.layer()
      const of = (name: string) =>
        Group.pipe(
          Layer.provide(AccessTokens.layerTest({
            secret: Redacted.make(`token-of-${name}`),
            environment: { baseUrl: `https://api.${name}.example` }
          })),
          Layer.provide(Http)
        )
      yield* nested(call, of("sandbox"), (again) => Effect.provide(again, of("production")))
      assert.deepStrictEqual(calls, [
        "api.sandbox.example Bearer token-of-sandbox",
        "api.production.example Bearer token-of-production"
      ])
    }))

  // Effect 4 reuses what a program has composed itself, whatever it is provided with
  it.effect("is built again within the program's own composition if that is fresh", () =>
    Effect.gen(function*() {
      const { Http, calls } = recording()
      const Clients = DataAccess.layer().pipe(Layer.provide(AuthV2.layerConfig()), Layer.provide(Http))
      yield* nested(call, Clients, (again) =>
        again.pipe(Effect.provide(Layer.fresh(Clients)), Effect.withConfigProvider(configured("b")))).pipe(
          Effect.withConfigProvider(configured("a"))
        )
      assert.deepStrictEqual(calls, ["api.a.example Bearer token-of-a", "api.b.example Bearer token-of-b"])
    }))

  it.effect("is shared by everything that is provided together", () =>
    Effect.gen(function*() {
      const { Http, clients } = recording()
      const Auth = AuthV2.layerConfig()
      const Clients = Layer.mergeAll(DataAccess.layer(), DataAccess.layer({ propagateTrace: true })).pipe(
        Layer.provideMerge(Auth),
        Layer.provide(Http)
      )
      const other = Layer.provide(
        Layer.effectDiscard(Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get)),
        Auth
      )
      yield* call.pipe(
        Effect.provide(Layer.merge(Clients, Layer.provide(other, Http))),
        Effect.withConfigProvider(configured("a"))
      )
      assert.deepStrictEqual(clients, ["a"])
    }))
})
