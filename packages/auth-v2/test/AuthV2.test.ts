import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, ClientCredentials, TokenEndpoint } from "@credit-data/core"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Redacted } from "effect"

const variables = {
  CREDIT_DATA_ENVIRONMENT: "sandbox",
  CREDIT_DATA_AUDIENCE: "https://api.example",
  CREDIT_DATA_BASE_URL: "https://api.example/",
  CREDIT_DATA_AUTH_V2_URL: "https://v2.example",
  CREDIT_DATA_CLIENT_ID: "id",
  CREDIT_DATA_CLIENT_SECRET: "secret",
  CREDIT_DATA_SCOPES: "furnishment:all data-access:all"
}

const withVariables = (pairs: Record<string, string>) =>
  Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(pairs))))

/** Answers every request with a token that tells what was asked. */
const echo = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) => {
    const form = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
    const scope = new URLSearchParams(form).get("scope") ?? ""
    const text = `${request.method}.${request.url}?${form}`
    return Effect.succeed(HttpClientResponse.fromWeb(
      request,
      new Response(JSON.stringify({ access_token: text, scope, expires_in: 60, token_type: "Bearer" }))
    ))
  })
)

const sent = Effect.gen(function*() {
  const tokens = yield* AccessTokens.AccessTokens
  return Redacted.value((yield* tokens.get).secret)
})

describe("AuthV2.layerConfig", () => {
  it.effect("reads its variables", () =>
    Effect.gen(function*() {
      const { environment } = yield* AccessTokens.AccessTokens
      assert.deepInclude(environment, {
        name: "sandbox",
        baseUrl: "https://api.example",
        authV2Url: "https://v2.example"
      })
      assert.strictEqual(
        yield* sent,
        "POST.https://v2.example/oauth2/token?client_id=id&client_secret=secret&audience=https%3A%2F%2Fapi.example" +
          "&scope=data-access%3Aall+furnishment%3Aall&grant_type=client_credentials"
      )
    }).pipe(Effect.provide(AuthV2.layerConfig().pipe(Layer.provide([echo, withVariables(variables)])))))

  it.effect("names every faulty variable at once, and shows no value", () =>
    Effect.gen(function*() {
      const faulty = { CREDIT_DATA_BASE_URL: "http://canary.example", CREDIT_DATA_SCOPES: "canary" }
      const error = String(
        yield* Effect.flip(
          Layer.build(AuthV2.layerConfig().pipe(Layer.provide([echo, withVariables(faulty)]))).pipe(Effect.scoped)
        )
      )
      for (const name of Object.keys(variables)) assert.include(error, name)
      assert.notInclude(error, "AUTH_V1_URL")
      assert.notInclude(error, "canary")
    }))

  it.effect("takes one field in place of another, and settings", () =>
    Effect.gen(function*() {
      assert.include(yield* sent, "client_secret=partner")
    }).pipe(Effect.provide(
      AuthV2.layerConfig(
        { ...AuthV2.config, clientSecret: Config.redacted("PARTNER_SECRET") },
        { renewalWindow: { from: 0.5, to: 0.6 } }
      ).pipe(Layer.provide([echo, withVariables({ ...variables, PARTNER_SECRET: "partner" })]))
    )))

  it.effect("refuses a setting that makes no sense", () =>
    Effect.gen(function*() {
      const layer = AuthV2.layerConfig(AuthV2.config, { deadline: 0 }).pipe(
        Layer.provide([echo, withVariables(variables)])
      )
      assert.include(String(yield* Effect.flip(Effect.scoped(Layer.build(layer)))), "deadline")
    }))
})

describe("AuthV2.layer", () => {
  const options = {
    environment: { name: "sandbox", audience: "a", baseUrl: "https://api.example", authV2Url: "https://v2.example/" },
    credentials: { clientId: "id", clientSecret: Redacted.make("secret") },
    scopes: ["serviceplus:all", "serviceplus:all"]
  } as const

  it.effect("takes values; scopes are a set", () =>
    Effect.gen(function*() {
      assert.include(yield* sent, "scope=serviceplus%3Aall&")
    }).pipe(Effect.provide(AuthV2.layer(options).pipe(Layer.provide(echo)))))

  it.effect("takes credentials from Config", () =>
    Effect.gen(function*() {
      assert.include(yield* sent, "client_id=id&client_secret=secret")
    }).pipe(Effect.provide(
      AuthV2.layer({ ...options, credentials: Config.all(ClientCredentials.config) }).pipe(
        Layer.provide([echo, withVariables(variables)])
      )
    )))

  it.effect("fails as the effect that reads the credentials does", () =>
    Effect.gen(function*() {
      const layer = AuthV2.layer({ ...options, credentials: Effect.fail("the manager is down" as const) })
      assert.strictEqual(
        yield* Effect.flip(Effect.scoped(Layer.build(layer.pipe(Layer.provide(echo))))),
        "the manager is down"
      )
    }))

  it.effect("the token endpoint alone makes a request each time", () =>
    Effect.gen(function*() {
      const endpoint = yield* TokenEndpoint.TokenEndpoint
      const [first, second] = [yield* endpoint.requestToken, yield* endpoint.requestToken]
      assert.notStrictEqual(first, second)
      assert.deepStrictEqual(first.scopes, ["serviceplus:all"])
    }).pipe(Effect.provide(AuthV2.layerTokenEndpoint(options).pipe(Layer.provide(echo)))))
})
