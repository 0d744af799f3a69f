import { AccessTokens, Adapter, TokenEndpoint } from "@credit-data/core"
import type { HttpClient } from "@effect/platform"
import { fiberLocal } from "@credit-data/test-support/fiberLocal"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Logger, Redacted } from "effect"
import * as FakeTransport from "./support/fakeTransport.ts"

const AuthV3 = Adapter.make({
  version: "V3",
  path: "/oauth3/token",
  field: "authV3Url",
  variable: "CREDIT_DATA_AUTH_V3_URL",
  description: "the address of Auth V3",
  example: "https://v3.example",
  scopes: true
})

/** A version whose requests name no scopes. */
const AuthV0 = Adapter.make({
  version: "V0",
  path: "/token",
  field: "authV0Url",
  variable: "CREDIT_DATA_AUTH_V0_URL",
  description: "the address of Auth V0",
  example: "https://v0.example",
  scopes: false,
  warning: "Auth V0 is old."
})

const variables = {
  CREDIT_DATA_ENVIRONMENT: "sandbox",
  CREDIT_DATA_AUDIENCE: "https://api.example",
  CREDIT_DATA_BASE_URL: "https://api.example",
  CREDIT_DATA_AUTH_V0_URL: "https://v0.example",
  CREDIT_DATA_AUTH_V3_URL: "https://v3.example",
  CREDIT_DATA_CLIENT_ID: "id",
  CREDIT_DATA_CLIENT_SECRET: "secret",
  CREDIT_DATA_SCOPES: "data-access:all"
}
const credentials = { clientId: "id", clientSecret: Redacted.make("secret") }
const environment = {
  name: "sandbox",
  audience: "https://api.example",
  baseUrl: "https://api.example",
  authV0Url: "https://v0.example",
  authV3Url: "https://v3.example"
}

const withVariables = (pairs: Record<string, string>) =>
  Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(pairs))))

const get = Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get)

/** Uses layers one inside of the other over one transport, with these variables. Returns what was sent and logged. */
const used = Effect.fnUntraced(function*<E>(
  layers: ReadonlyArray<Layer.Layer<AccessTokens.AccessTokens, E, HttpClient.HttpClient>>,
  pairs: Record<string, string> = {}
) {
  const transport = yield* FakeTransport.make(
    FakeTransport.json({ ...FakeTransport.granted, scope: "data-access:all" })
  )
  const logged: Array<string> = []
  const over = Layer.mergeAll(
    transport.layer,
    withVariables(pairs),
    Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void logged.push(String(message))))
  )
  yield* layers.reduce<Effect.Effect<unknown, unknown, HttpClient.HttpClient>>(
    (inner, layer) => Effect.provide(Effect.zipRight(get, inner), layer),
    Effect.void
  ).pipe(Effect.provide(over))
  return { sent: (yield* transport.sent).map(({ body, url }) => `${url}?${body}`), logged }
})

const failureOf = <A, E>(layer: Layer.Layer<A, E, HttpClient.HttpClient>, pairs: Record<string, string> = {}) =>
  Effect.gen(function*() {
    const transport = yield* FakeTransport.make()
    const provided = Layer.provide(layer, [transport.layer, withVariables(pairs)])
    return String(yield* Effect.flip(Effect.scoped(Layer.build(provided))))
  })

const request = "client_id=id&client_secret=secret&audience=https%3A%2F%2Fapi.example"
const toV3 = `https://v3.example/oauth3/token?${request}&scope=data-access%3Aall&grant_type=client_credentials`
const toV0 = `https://v0.example/token?${request}&grant_type=client_credentials`

describe("an adapter", () => {
  const scopes = ["data-access:all"] as const
  const ways = {
    "the options of layer": [
      AuthV3.layer({ environment, credentials, scopes }),
      AuthV0.layer({ environment, credentials })
    ],
    "variables": [AuthV3.layerConfig(), AuthV0.layerConfig()],
    "the program's Configs": [
      AuthV3.layerConfig({ ...AuthV3.config, authV3Url: Config.succeed("https://v3.example") }),
      AuthV0.layerConfig({ ...AuthV0.config })
    ]
  }
  for (const [name, [v3, v0]] of Object.entries(ways)) {
    it.effect(`sends its request with ${name}, with scopes only if its version has them`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* used(v3 === undefined ? [] : [v3], variables)).sent, [toV3])
        const { logged, sent } = yield* used(v0 === undefined ? [] : [v0], variables)
        assert.deepStrictEqual(sent, [toV0])
        assert.include(logged, "Auth V0 is old.")
      }))
  }

  it.effect("reads each option from the Config that the program gives, beside its settings", () =>
    Effect.gen(function*() {
      const layer = AuthV3.layerConfig({
        environment: Config.succeed("partner"),
        audience: Config.succeed("theirs"),
        baseUrl: Config.succeed("https://api.partner.example"),
        authV3Url: Config.succeed("https://v3.partner.example"),
        clientId: Config.succeed("partner-id"),
        clientSecret: Config.redacted("PARTNER_SECRET"),
        scopes: Config.succeed(["serviceplus:all"]),
        renewalWindow: { from: 0.5, to: 0.6 }
      })
      assert.deepStrictEqual((yield* used([layer], { ...variables, PARTNER_SECRET: "partner-secret" })).sent, [
        "https://v3.partner.example/oauth3/token?client_id=partner-id&client_secret=partner-secret&audience=theirs" +
        "&scope=serviceplus%3Aall&grant_type=client_credentials"
      ])
      const { environment } = yield* AccessTokens.AccessTokens.pipe(
        Effect.provide(
          Layer.provide(layer, [(yield* FakeTransport.make()).layer, withVariables({ PARTNER_SECRET: "s" })])
        )
      )
      assert.deepInclude(environment, { name: "partner", baseUrl: "https://api.partner.example" })
    }))

  it.effect("needs scopes, which are never left out", () =>
    Effect.gen(function*() {
      const { CREDIT_DATA_SCOPES: _, ...others } = variables
      assert.include(yield* failureOf(AuthV3.layerConfig(), others), "- CREDIT_DATA_SCOPES is missing")
      const untyped: object = { environment, credentials }
      assert.include(
        yield* failureOf(Reflect.apply(AuthV3.layer, undefined, [untyped])),
        "scopes"
      )
      assert.deepStrictEqual((yield* used([AuthV0.layerConfig()], others)).sent, [toV0])
      assert.notProperty(AuthV0.config, "scopes")
    }))

  it.effect("names its variable with its description and an example, and every other one", () =>
    Effect.gen(function*() {
      const failure = yield* failureOf(AuthV3.layerConfig())
      assert.include(
        failure,
        "- CREDIT_DATA_AUTH_V3_URL is missing: the address of Auth V3, without /oauth3/token, for example https://v3.example"
      )
      for (const name of Object.keys(variables).filter((name) => !name.includes("V0"))) {
        assert.include(failure, `- ${name} is missing`)
      }
      const { authV3Url: _, ...withoutUrl } = environment
      const untyped: object = { environment: withoutUrl, credentials, scopes: ["data-access:all"] }
      assert.include(yield* failureOf(Reflect.apply(AuthV3.layer, undefined, [untyped])), "authV3Url")
      const wrong = { ...variables, CREDIT_DATA_AUTH_V3_URL: "https://v3.example/oauth3/token" }
      assert.include(yield* failureOf(AuthV3.layerConfig(), wrong), "- CREDIT_DATA_AUTH_V3_URL: Expected ")
    }))

  it.effect("reads no variables of the credentials if they are given", () =>
    Effect.gen(function*() {
      const { CREDIT_DATA_CLIENT_ID: _, CREDIT_DATA_CLIENT_SECRET: __, ...others } = variables
      // nor their Configs, if the program names them too
      for (const options of [{}, AuthV3.config]) {
        const layer = AuthV3.layerConfig({ ...options, credentials: Effect.succeed(credentials) })
        assert.deepStrictEqual((yield* used([layer], others)).sent, [toV3])
      }
      for (const name of ["CREDIT_DATA_CLIENT_ID", "CREDIT_DATA_CLIENT_SECRET"] as const) {
        const { [name]: _, ...without } = variables
        assert.include(yield* failureOf(AuthV3.layerConfig(), without), `- ${name} is missing`)
      }
    }))

  it.effect("is built once for uses that read from the same objects, whatever they read", () =>
    Effect.gen(function*() {
      let count = 0
      const layer = AuthV0.layer({
        environment,
        credentials: Effect.sync(() => ({ clientId: `id ${++count}`, clientSecret: Redacted.make("secret") }))
      })
      const { logged, sent } = yield* used([layer, layer])
      assert.lengthOf(sent, 1)
      assert.deepStrictEqual(logged.filter((line) => line === "Auth V0 is old."), ["Auth V0 is old."])
    }))

  it.effect("reads credentials without the fiber-local values of the request that began it, but with the program's loggers", () =>
    Effect.gen(function*() {
      const tenant = fiberLocal("nobody")
      const read = Effect.map(tenant.get, (name) => ({ clientId: name, clientSecret: Redacted.make("secret") }))
      const layer = AuthV0.layer({ environment, credentials: Effect.tap(read, () => Effect.logInfo("reading")) })
      const transport = yield* FakeTransport.make(FakeTransport.json(FakeTransport.granted))
      const logged: Array<string> = []
      const log = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ message }) => void logged.push(String(message)))
      )
      // both requests use the layer at the same time
      const outer = Effect.zipRight(get, Effect.provide(get, layer).pipe(tenant.locally("blue")))
      yield* Effect.provide(outer, layer).pipe(
        tenant.locally("acme"),
        Effect.provide(Layer.merge(transport.layer, log))
      )
      assert.deepStrictEqual((yield* transport.sent).map(({ body }) => new URLSearchParams(body).get("client_id")), [
        "nobody"
      ])
      assert.include(logged, "reading")
    }))

  it.effect("makes only the token endpoint, with the settings of the program", () =>
    Effect.gen(function*() {
      const transport = yield* FakeTransport.make()
      for (
        const layer of [
          AuthV3.layerTokenEndpoint({ environment, credentials, scopes, deadline: "3 seconds" }),
          AuthV3.layerTokenEndpointConfig({ deadline: "3 seconds" })
        ]
      ) {
        const endpoint = yield* TokenEndpoint.TokenEndpoint.pipe(
          Effect.provide(Layer.provide(layer, [transport.layer, withVariables(variables)]))
        )
        assert.deepInclude(
          { ...endpoint, deadline: Number(endpoint.deadline) },
          { url: "https://v3.example/oauth3/token", version: "V3", requestedScopes: ["data-access:all"] }
        )
      }
    }))
})
