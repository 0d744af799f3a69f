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

/** The error of a layer that cannot be built. */
const failed = <A, E>(layer: Layer.Layer<A, E, HttpClient.HttpClient>) =>
  layer.pipe(Layer.provide(echo), Layer.build, Effect.scoped, Effect.flip)

const failure = (pairs: Record<string, string>) =>
  Effect.map(failed(AuthV2.layerConfig().pipe(Layer.provide(withVariables(pairs)))), String)

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
      const error = yield* failure({ CREDIT_DATA_BASE_URL: "http://canary.example", CREDIT_DATA_SCOPES: "canary" })
      for (const name of Object.keys(variables)) assert.include(error, `- ${name}`)
      assert.notInclude(error, "AUTH_V1_URL")
      assert.notInclude(error, "canary")
    }))

  it.effect("names the variable when the address of the server contains the path of the token endpoint", () =>
    Effect.gen(function*() {
      const error = yield* failure({ ...variables, CREDIT_DATA_AUTH_V2_URL: "https://v2.example/oauth2/token/" })
      assert.include(error, "- CREDIT_DATA_AUTH_V2_URL: Expected ")
    }))

  it.effect("prints the name that a nested provider gives to a variable", () =>
    Effect.gen(function*() {
      const nested = ConfigProvider.nested(ConfigProvider.fromMap(new Map()), "PARTNER")
      const error = String(yield* failed(AuthV2.layerConfig().pipe(Layer.provide(Layer.setConfigProvider(nested)))))
      assert.include(error, "- PARTNER_CREDIT_DATA_CLIENT_ID is missing: ")
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
      assert.strictEqual(yield* failed(down.pipe(Layer.provide(withVariables(others)))), "the manager is down")
    }))

  it.effect("reads each option from the Config that the program gives, and accepts settings", () =>
    Effect.gen(function*() {
      const { environment } = yield* AccessTokens.AccessTokens
      assert.deepInclude(environment, { name: "partner", audience: "theirs", baseUrl: "https://api.partner.example" })
      assert.strictEqual(
        yield* sent,
        "POST.https://v2.partner.example/oauth2/token?client_id=partner-id&client_secret=partner-secret&audience=theirs" +
          "&scope=serviceplus%3Aall&grant_type=client_credentials"
      )
    }).pipe(Effect.provide(
      AuthV2.layerConfig({
        environment: Config.succeed("partner"),
        audience: Config.succeed("theirs"),
        baseUrl: Config.succeed("https://api.partner.example"),
        authV2Url: Config.succeed("https://v2.partner.example"),
        clientId: Config.succeed("partner-id"),
        clientSecret: Config.redacted("PARTNER_SECRET"),
        scopes: Config.succeed(["serviceplus:all"]),
        renewalWindow: { from: 0.5, to: 0.6 }
      }).pipe(Layer.provide([echo, withVariables({ ...variables, PARTNER_SECRET: "partner-secret" })]))
    )))

  it.effect("refuses a deadline of 0", () =>
    Effect.gen(function*() {
      const layer = AuthV2.layerConfig({ deadline: 0 }).pipe(Layer.provide(withVariables(variables)))
      assert.include(String(yield* failed(layer)), "deadline")
    }))
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
      assert.strictEqual(yield* failed(layer), "the manager is down")
    }))

  for (
    const [name, layer] of [
      ["layerTokenEndpoint", AuthV2.layerTokenEndpoint(options)],
      ["layerTokenEndpointConfig", AuthV2.layerTokenEndpointConfig().pipe(Layer.provide(withVariables(variables)))]
    ] as const
  ) {
    it.effect(`${name} sends one token request for each requestToken`, () =>
      Effect.gen(function*() {
        const { requestToken, url } = yield* TokenEndpoint.TokenEndpoint
        assert.strictEqual(url, "https://v2.example/oauth2/token")
        const tokens = yield* Effect.replicateEffect(requestToken({ _tag: "Nothing" }), 2)
        assert.notStrictEqual(tokens[0], tokens[1])
      }).pipe(Effect.provide(layer.pipe(Layer.provide(echo)))))
  }
})
