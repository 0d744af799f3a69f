import { HttpError } from "@credit-data/core/Internal"
import { AuthV1 } from "@credit-data/auth-v1"
import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Logger, Option, Redacted } from "effect"

const variables = {
  CREDIT_DATA_ENVIRONMENT: "sandbox",
  CREDIT_DATA_AUDIENCE: "https://api.example",
  CREDIT_DATA_BASE_URL: "https://api.example/",
  CREDIT_DATA_AUTH_V1_URL: "https://v1.example",
  CREDIT_DATA_CLIENT_ID: "id",
  CREDIT_DATA_CLIENT_SECRET: "secret"
}

const withVariables = (pairs: Record<string, string>) =>
  Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(pairs))))

/** Responds to every request with a token whose text is the request. */
const echo = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) => {
    const form = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
    return Effect.succeed(HttpClientResponse.fromWeb(
      request,
      new Response(JSON.stringify({
        access_token: `${request.method}.${request.url}?${form}`,
        scope: "read:consumers write:consumers read:credit.report.score.vantage3",
        expires_in: 60,
        token_type: "Bearer"
      }))
    ))
  })
)

const options = {
  environment: { name: "sandbox", audience: "a", baseUrl: "https://api.example", authV1Url: "https://v1.example" },
  credentials: { clientId: "id", clientSecret: Redacted.make("secret") }
}

describe("AuthV1.layerConfig", () => {
  it.effect("reads its variables, sends no scope field, and keeps the legacy scope names", () =>
    Effect.gen(function*() {
      const tokens = yield* AccessTokens.AccessTokens
      assert.deepStrictEqual(tokens.requestedScopes, [])
      const token = yield* tokens.get
      assert.strictEqual(
        Redacted.value(token.secret),
        "POST.https://v1.example/oauth/token?client_id=id&client_secret=secret&audience=https%3A%2F%2Fapi.example" +
          "&grant_type=client_credentials"
      )
      assert.deepStrictEqual(token.scopes, ["read:consumers", "write:consumers", "read:credit.report.score.vantage3"])
      assert.isTrue(token.covers("furnishment:all"))
      assert.deepStrictEqual((yield* tokens.status).version, Option.some("V1"))
    }).pipe(Effect.provide(AuthV1.layerConfig().pipe(Layer.provide([echo, withVariables(variables)])))))

  it.effect("requires each of its variables, and neither scopes nor the V2 server", () =>
    Effect.gen(function*() {
      const built = AuthV1.layerConfig().pipe(Layer.provide([echo, withVariables({})]), Layer.build, Effect.scoped)
      const error = String(yield* Effect.flip(built))
      for (const name of Object.keys(variables)) assert.include(error, name)
      assert.notMatch(error, /AUTH_V2_URL|SCOPES/)
    }))

  it.effect("makes only its token endpoint", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* TokenEndpoint.TokenEndpoint).url, "https://v1.example/oauth/token")
    }).pipe(Effect.provide(AuthV1.layerTokenEndpointConfig().pipe(Layer.provide([echo, withVariables(variables)])))))
})

describe("the sunset of Auth V1", () => {
  it.effect("is logged as one warning when the layer is built", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel.label === "WARN") logged.push(String(message))
    })
    return Effect.gen(function*() {
      const tokens = yield* AccessTokens.AccessTokens
      yield* tokens.get
      yield* tokens.get
      assert.deepStrictEqual(logged, [
        "Auth V1 was retired at the end of 2024. Replace AuthV1 with AuthV2, unless you are a client of Data Access V1."
      ])
    }).pipe(
      Effect.provide(
        AuthV1.layer({ ...options, credentials: { ...options.credentials, clientId: "another" } }).pipe(
          Layer.provide([echo, Logger.replace(Logger.defaultLogger, logger)])
        )
      )
    )
  })

  const failing = (client: HttpClient.HttpClient) =>
    Effect.flatMap(TokenEndpoint.TokenEndpoint, ({ requestToken }) => Effect.flip(requestToken({ _tag: "Nothing" })))
      .pipe(
        Effect.provide(
          AuthV1.layerTokenEndpoint(options).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, client)))
        )
      )

  it.effect("is named in an error only when the host does not resolve, or returns 404 or 410", () =>
    Effect.gen(function*() {
      const nameless = (code: string) =>
        HttpClient.make((request) => Effect.fail(HttpError.requestError("Transport", { request, cause: { code } })))
      const responding = (status: number) =>
        HttpClient.make((request) =>
          Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status })))
        )
      for (const client of [nameless("ENOTFOUND"), responding(404), responding(410)]) {
        assert.match((yield* failing(client)).message, /2024.*AuthV2\.layerConfig\(\)/)
      }
      for (const client of [responding(401), responding(500), nameless("EAI_AGAIN"), nameless("ECONNREFUSED")]) {
        assert.notInclude((yield* failing(client)).message, "retired")
      }
    }))
})
