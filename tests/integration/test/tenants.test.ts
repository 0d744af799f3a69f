import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, type ClientCredentials } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, LayerMap, Redacted, Scope } from "effect"
import { granted } from "../src/servers.ts"

const environment = {
  name: "sandbox",
  audience: "https://api.sandbox.example",
  baseUrl: "https://api.sandbox.example",
  authV2Url: "https://oauth.sandbox.example"
}

type Read = Effect.Effect<ClientCredentials.ClientCredentials, string>

const good: Read = Effect.succeed({ clientId: "tenant", clientSecret: Redacted.make("secret") })

/** A program with the clients of each tenant, as docs/tenants.md composes them. The first reading of the credentials is another one. */
const program = <A, E>(
  first: Read,
  use: (world: {
    readonly call: Effect.Effect<number, unknown>
    readonly supply: Effect.Effect<AccessTokens.Service, unknown>
    readonly requests: () => number
    readonly api: { status: number }
  }) => Effect.Effect<A, E>
) => {
  let reads = 0
  let requests = 0
  const api = { status: 200 }
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      const isToken = request.url.startsWith(environment.authV2Url)
      if (isToken) requests++
      return HttpClientResponse.fromWeb(
        request,
        isToken ? Response.json(granted(requests)) : new Response(null, { status: api.status })
      )
    })
  )
  const Http = Layer.succeed(HttpClient.HttpClient, client)
  const credentials = Effect.suspend(() => reads++ === 0 ? first : good)

  class Tenants extends LayerMap.Service<Tenants>()("Tenants", {
    lookup: () =>
      DataAccess.layer().pipe(
        Layer.provideMerge(AuthV2.layer({ environment, credentials, scopes: ["data-access:all"] }))
      ),
    idleTimeToLive: "1 hour"
  }) {}

  const clientsOf = (tenant: string) =>
    Layer.scopedContext(
      Effect.onError(Layer.build(Tenants.get(tenant)), () => Tenants.invalidate(tenant)).pipe(
        Effect.mapInputContext((caller: Context.Context<Scope.Scope | Tenants>) =>
          Context.pick(Scope.Scope, Tenants)(caller)
        )
      )
    )

  const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42")).pipe(
    Effect.map(({ status }) => status),
    Effect.provide(clientsOf("a"))
  )
  const supply = Effect.provide(AccessTokens.AccessTokens, clientsOf("a"))
  return Effect.gen(function*() {
    const context = yield* Layer.build(Layer.provide(Tenants.Default, Http))
    return yield* use({
      call: Effect.provide(call, context),
      supply: Effect.provide(supply, context),
      requests: () => requests,
      api
    })
  })
}

describe("the clients of a tenant", () => {
  for (
    const [name, first] of [
      ["fails", Effect.fail("the manager is down")],
      ["dies", Effect.die(new Error("a bug"))],
      ["is slow, and its caller gives up", Effect.delay(good, "1 hour")]
    ] as const
  ) {
    it.scopedLive(`work for the next call when the first reading of their credentials ${name}`, () =>
      program(first, ({ call, requests }) =>
        Effect.gen(function*() {
          assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.timeout(call, "50 millis"))))
          for (let calls = 0; calls < 20; calls++) assert.strictEqual(yield* call, 200)
          assert.strictEqual(requests(), 1)
        })))
  }

  it.scopedLive("use the services of the map, and not those of the first caller", () =>
    program(good, ({ call, requests }) =>
      Effect.gen(function*() {
        const foreign = HttpClient.make(() => Effect.die("the client of another tenant"))
        assert.strictEqual(yield* Effect.provideService(call, HttpClient.HttpClient, foreign), 200)
        assert.strictEqual(requests(), 1)
      })))

  it.scopedLive("keep their supply when a call fails after they were built", () =>
    program(good, ({ api, call, requests, supply }) =>
      Effect.gen(function*() {
        yield* call
        const before = yield* supply
        api.status = 500
        assert.strictEqual(yield* call, 500)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.zipRight(call, Effect.fail("the program fails")))))
        assert.strictEqual(yield* supply, before)
        assert.strictEqual(requests(), 1)
      })))
})
