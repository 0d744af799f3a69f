import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, ClientCredentials, TokenEndpoint } from "@credit-data/core"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Config, type ConfigError, ConfigProvider, Effect, Layer, Option, Redacted } from "effect"

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

const sent = Effect.gen(function*() {
  const tokens = yield* AccessTokens.AccessTokens
  return Redacted.value((yield* tokens.get).secret)
})

/** A program can name the type of a layer by the function that makes it. */
const over = (
  auth: ReturnType<typeof AuthV2.layerConfig>
): Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError, HttpClient.HttpClient> => auth

describe("AuthV2.layerConfig", () => {
  it.effect("reads its variables", () =>
    Effect.gen(function*() {
      const { environment, get, status } = yield* AccessTokens.AccessTokens
      assert.deepInclude(environment, {
        name: "sandbox",
        baseUrl: "https://api.example"
      })
      assert.isUndefined((yield* get).covered, "the granted scopes")
      assert.deepStrictEqual((yield* status).version, Option.some("V2"))
      assert.strictEqual(
        yield* sent,
        "POST.https://v2.example/oauth2/token?client_id=id&client_secret=secret&audience=https%3A%2F%2Fapi.example" +
          "&scope=data-access%3Aall+furnishment%3Aall&grant_type=client_credentials"
      )
    }).pipe(Effect.provide(over(AuthV2.layerConfig()).pipe(Layer.provide([echo, withVariables(variables)])))))

  it.effect("names every faulty variable in one error, and shows no value", () =>
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

  const failure = (variables: Record<string, string>) =>
    AuthV2.layerConfig().pipe(
      Layer.provide([echo, withVariables(variables)]),
      Layer.build,
      Effect.scoped,
      Effect.flip,
      Effect.map(String)
    )

  it.effect("prints one line for each variable that is missing or wrong, and how to get the values", () =>
    Effect.gen(function*() {
      const faulty = { ...variables, CREDIT_DATA_BASE_URL: "http://canary.example", CREDIT_DATA_CLIENT_ID: " canary" }
      const { CREDIT_DATA_AUDIENCE: _, CREDIT_DATA_CLIENT_SECRET: __, CREDIT_DATA_SCOPES: ___, ...some } = faulty
      assert.deepStrictEqual((yield* failure(some)).split("\n"), [
        "The configuration is incomplete or wrong.",
        "- CREDIT_DATA_AUDIENCE is missing: the audience identifier of the environment, for example https://api.sandbox.example",
        "- CREDIT_DATA_BASE_URL: Expected https (http only for localhost, 127.0.0.0/8 and [::1])",
        "- CREDIT_DATA_SCOPES is missing: the scopes to request, separated by spaces, for example data-access:all " +
        "furnishment:all serviceplus:all",
        "- CREDIT_DATA_CLIENT_ID: Expected text without blanks at its ends",
        "- CREDIT_DATA_CLIENT_SECRET is missing: the client secret that the operator issued",
        "The operator of the service issues the addresses and the credentials. Every variable: https://github.com/credit-data/credit-data/blob/main/docs/configuration.md"
      ])
    }))

  it.effect("names the variable when the address of the server contains the path of the token endpoint", () =>
    Effect.gen(function*() {
      const withPath = { ...variables, CREDIT_DATA_AUTH_V2_URL: "https://v2.example/oauth2/token/" }
      assert.include(
        yield* failure(withPath),
        "- CREDIT_DATA_AUTH_V2_URL: Expected the address without /oauth2/token\n"
      )
    }))

  it.effect("prints the name that a nested provider gives to a variable", () =>
    Effect.gen(function*() {
      const nested = ConfigProvider.nested(ConfigProvider.fromMap(new Map()), "PARTNER")
      const error = yield* AuthV2.layerConfig().pipe(
        Layer.provide([echo, Layer.setConfigProvider(nested)]),
        Layer.build,
        Effect.scoped,
        Effect.flip
      )
      assert.include(
        String(error),
        "- PARTNER_CREDIT_DATA_CLIENT_ID is missing: the client id that the operator issued"
      )
    }))

  it.effect("does not require the variables of the credentials when the credentials are a setting", () =>
    Effect.gen(function*() {
      const { CREDIT_DATA_CLIENT_ID: _, CREDIT_DATA_CLIENT_SECRET: __, ...others } = variables
      const credentials = Effect.succeed({ clientId: "my-id", clientSecret: Redacted.make("my-secret") })
      // the Configs of the credentials are not read either when the program names them
      for (const options of [{ credentials }, { ...AuthV2.config, credentials }]) {
        const layer = AuthV2.layerConfig(options).pipe(Layer.provide([echo, withVariables(others)]))
        assert.include(yield* Effect.provide(sent, layer), "client_id=my-id&client_secret=my-secret")
      }
      const down = AuthV2.layerConfig({ credentials: Effect.fail("the manager is down" as const) })
      const error = yield* down.pipe(
        Layer.provide([echo, withVariables(others)]),
        Layer.build,
        Effect.scoped,
        Effect.flip
      )
      assert.strictEqual(error, "the manager is down")
    }))

  it.effect("accepts a replaced field, and settings", () =>
    Effect.gen(function*() {
      assert.include(yield* sent, "client_secret=partner")
    }).pipe(Effect.provide(
      AuthV2.layerConfig({
        clientSecret: Config.redacted("PARTNER_SECRET"),
        renewalWindow: { from: 0.5, to: 0.6 }
      }).pipe(Layer.provide([echo, withVariables({ ...variables, PARTNER_SECRET: "partner" })]))
    )))

  it.effect("refuses a deadline of 0", () =>
    Effect.gen(function*() {
      const layer = AuthV2.layerConfig({ deadline: 0 }).pipe(
        Layer.provide([echo, withVariables(variables)])
      )
      assert.include(String(yield* Effect.flip(Effect.scoped(Layer.build(layer)))), "deadline")
    }))
})

describe("AuthV2.layerTokenEndpointConfig", () => {
  it.effect("reads the variables, and sends a token request for each requestToken", () =>
    Effect.gen(function*() {
      const endpoint = yield* TokenEndpoint.TokenEndpoint
      const [first, second] = [
        yield* endpoint.requestToken({ _tag: "Nothing" }),
        yield* endpoint.requestToken({ _tag: "Nothing" })
      ]
      assert.notStrictEqual(first, second)
      assert.strictEqual(endpoint.url, "https://v2.example/oauth2/token")
    }).pipe(Effect.provide(AuthV2.layerTokenEndpointConfig().pipe(Layer.provide([echo, withVariables(variables)])))))
})

describe("AuthV2.layer", () => {
  const options = {
    environment: { name: "sandbox", audience: "a", baseUrl: "https://api.example", authV2Url: "https://v2.example/" },
    credentials: { clientId: "id", clientSecret: Redacted.make("secret") },
    scopes: ["serviceplus:all", "serviceplus:all"]
  } as const

  it.effect("accepts values, and sends a duplicate scope once", () =>
    Effect.gen(function*() {
      assert.include(yield* sent, "scope=serviceplus%3Aall&")
    }).pipe(Effect.provide(AuthV2.layer(options).pipe(Layer.provide(echo)))))

  it.effect("reads credentials from a Config", () =>
    Effect.gen(function*() {
      assert.include(yield* sent, "client_id=id&client_secret=secret")
    }).pipe(Effect.provide(
      AuthV2.layer({ ...options, credentials: Config.all(ClientCredentials.config) }).pipe(
        Layer.provide([echo, withVariables(variables)])
      )
    )))

  it.effect("fails with the error of the effect that reads the credentials", () =>
    Effect.gen(function*() {
      const layer = AuthV2.layer({ ...options, credentials: Effect.fail("the manager is down" as const) })
      assert.strictEqual(
        yield* Effect.flip(Effect.scoped(Layer.build(layer.pipe(Layer.provide(echo))))),
        "the manager is down"
      )
    }))

  it.effect("layerTokenEndpoint sends one token request for each requestToken", () =>
    Effect.gen(function*() {
      const endpoint = yield* TokenEndpoint.TokenEndpoint
      const [first, second] = [
        yield* endpoint.requestToken({ _tag: "Nothing" }),
        yield* endpoint.requestToken({ _tag: "Nothing" })
      ]
      assert.notStrictEqual(first, second)
      assert.deepStrictEqual(first.scopes, ["serviceplus:all"])
    }).pipe(Effect.provide(AuthV2.layerTokenEndpoint(options).pipe(Layer.provide(echo)))))
})
