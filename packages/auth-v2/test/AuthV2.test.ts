import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { type ConfigError, ConfigProvider, Effect, Layer, Option, Redacted } from "effect"

const variables = {
  CREDIT_DATA_ENVIRONMENT: "sandbox",
  CREDIT_DATA_AUDIENCE: "https://api.example",
  CREDIT_DATA_BASE_URL: "https://api.example/",
  CREDIT_DATA_AUTH_V2_URL: "https://v2.example",
  CREDIT_DATA_CLIENT_ID: "id",
  CREDIT_DATA_CLIENT_SECRET: "secret",
  CREDIT_DATA_SCOPES: "furnishment:all data-access:all"
}

const options = {
  environment: { name: "sandbox", audience: "a", baseUrl: "https://api.example", authV2Url: "https://v2.example/" },
  credentials: { clientId: "id", clientSecret: Redacted.make("secret") },
  scopes: ["serviceplus:all"]
} as const

const withVariables = (pairs: Record<string, string>) =>
  Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(pairs))))

/** Responds to every request with a token whose text is the request. */
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

/** A program can name the type of a layer by the function that makes it. */
const over = (
  auth: ReturnType<typeof AuthV2.layerConfig>
): Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError, HttpClient.HttpClient> => auth

describe("Auth V2", () => {
  it.effect("sends its request with variables, and tokens cover the granted scopes", () =>
    Effect.gen(function*() {
      const { environment, get, status } = yield* AccessTokens.AccessTokens
      assert.deepInclude(environment, { name: "sandbox", baseUrl: "https://api.example" })
      const token = yield* get
      assert.isUndefined(token.covered, "the granted scopes")
      assert.deepStrictEqual((yield* status).version, Option.some("V2"))
      assert.strictEqual(
        Redacted.value(token.secret),
        "POST.https://v2.example/oauth2/token?client_id=id&client_secret=secret&audience=https%3A%2F%2Fapi.example" +
          "&scope=data-access%3Aall+furnishment%3Aall&grant_type=client_credentials"
      )
    }).pipe(Effect.provide(over(AuthV2.layerConfig()).pipe(Layer.provide([echo, withVariables(variables)])))))

  it.effect("sends its request with options", () =>
    Effect.gen(function*() {
      const token = yield* (yield* AccessTokens.AccessTokens).get
      assert.strictEqual(
        Redacted.value(token.secret),
        "POST.https://v2.example/oauth2/token?client_id=id&client_secret=secret&audience=a" +
          "&scope=serviceplus%3Aall&grant_type=client_credentials"
      )
    }).pipe(Effect.provide(AuthV2.layer(options).pipe(Layer.provide(echo)))))

  it.effect("names each of its variables and no other, and shows no value", () =>
    Effect.gen(function*() {
      const faulty = withVariables({ CREDIT_DATA_BASE_URL: "http://canary.example", CREDIT_DATA_SCOPES: "canary" })
      const built = AuthV2.layerConfig().pipe(Layer.provide([echo, faulty]), Layer.build, Effect.scoped)
      const error = String(yield* Effect.flip(built))
      for (const name of Object.keys(variables)) assert.include(error, `- ${name}`)
      assert.notInclude(error, "AUTH_V1_URL")
      assert.notInclude(error, "canary")
    }))

  for (
    const [name, layer] of [
      ["layerTokenEndpoint", AuthV2.layerTokenEndpoint(options)],
      ["layerTokenEndpointConfig", AuthV2.layerTokenEndpointConfig().pipe(Layer.provide(withVariables(variables)))]
    ] as const
  ) {
    it.effect(`${name} makes its token endpoint`, () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* TokenEndpoint.TokenEndpoint).url, "https://v2.example/oauth2/token")
      }).pipe(Effect.provide(layer.pipe(Layer.provide(echo)))))
  }
})
