import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, type TokenError } from "@credit-data/core"
import { DataAccess, Furnishment, GroupClient, type InsufficientScope } from "@credit-data/http-client"
import { HttpClient, type HttpClientError, type HttpClientResponse } from "@effect/platform"
import { type ConfigError, Effect, type Layer, Redacted } from "effect"
import { describe, expectTypeOf, it } from "vitest"

const environment = {
  name: "sandbox",
  audience: "a",
  baseUrl: "https://api.example",
  authV1Url: "https://v1.example",
  authV2Url: "https://v2.example"
}
const credentials = { clientId: "id", clientSecret: Redacted.make("secret") }

describe("the adapters", () => {
  it("layerConfig of V1 and of V2 have the same type, so a migration changes one word", () => {
    expectTypeOf(AuthV1.layerConfig()).toEqualTypeOf(AuthV2.layerConfig())
    expectTypeOf(AuthV2.layerConfig()).toEqualTypeOf<
      Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError, HttpClient.HttpClient>
    >()
  })

  it("V2 cannot be built without a scope or with an unknown scope", () => {
    // @ts-expect-error: scopes are missing
    AuthV2.layer({ environment, credentials })
    // @ts-expect-error: the list is empty
    AuthV2.layer({ environment, credentials, scopes: [] })
    // @ts-expect-error: there is no such scope
    AuthV2.layer({ environment, credentials, scopes: ["read:consumers"] })
  })

  it("V1 accepts no scopes", () => {
    // @ts-expect-error: V1 has no option `scopes`
    AuthV1.layer({ environment, credentials, scopes: ["data-access:all"] })
  })

  it("an adapter requires the authorization server of its version", () => {
    const { authV1Url: _, ...withoutV1 } = environment
    // @ts-expect-error: authV1Url is missing
    AuthV1.layer({ environment: withoutV1, credentials })
  })

  it("a secret must be Redacted", () => {
    // @ts-expect-error: a string is not Redacted
    AuthV1.layer({ environment, credentials: { clientId: "id", clientSecret: "secret" } })
  })

  it("the secret of an access token is not accepted as a client secret", () => {
    const withToken = Effect.map(AccessTokens.AccessTokens, (tokens) =>
      Effect.map(tokens.get, ({ secret }) =>
        // @ts-expect-error: the secret of an access token
        AuthV1.layer({ environment, credentials: { clientId: "id", clientSecret: secret } })))
    expectTypeOf(withToken).toExtend<Effect.Effect<unknown, never, AccessTokens.AccessTokens>>()
  })

  it("the layer has the errors and requirements of the effect that reads the credentials", () => {
    class Down {
      readonly _tag = "Down"
    }
    expectTypeOf(AuthV1.layer({ environment, credentials: Effect.fail(new Down()) })).toEqualTypeOf<
      Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError | Down, HttpClient.HttpClient>
    >()
  })
})

describe("the groups", () => {
  const furnish = Effect.flatMap(Furnishment.Furnishment, (client) => client.get("/submissions/7"))

  it("a program that is provided only with Data Access cannot call Furnishment", () => {
    const program = Effect.provide(furnish, DataAccess.layer())
    expectTypeOf<Effect.Effect.Context<typeof program>>().toEqualTypeOf<
      Furnishment.Furnishment | AccessTokens.AccessTokens | HttpClient.HttpClient
    >()
    expectTypeOf(program).not.toExtend<
      Effect.Effect<unknown, unknown, AccessTokens.AccessTokens | HttpClient.HttpClient>
    >()
  })

  it("the type of a call lists its errors", () => {
    expectTypeOf<Effect.Effect.Error<typeof furnish>>().toEqualTypeOf<
      HttpClientError.HttpClientError | TokenError.TokenError | InsufficientScope.InsufficientScope
    >()
  })

  it("a plain HttpClient, or the client of another group, is not accepted as the client of a group", () => {
    const misuse = Effect.gen(function*() {
      const plain = yield* HttpClient.HttpClient
      // @ts-expect-error: it sends no token
      GroupClient.toHttpClient(plain)
      // @ts-expect-error: it is the client of Furnishment
      return DataAccess.DataAccess.of(yield* Furnishment.Furnishment)
    })
    expectTypeOf(misuse).not.toBeAny()
  })

  it("the client of a group is not a plain HttpClient, and toHttpClient converts it", () => {
    expectTypeOf<GroupClient.GroupClient>().not.toExtend<HttpClient.HttpClient>()
    expectTypeOf(GroupClient.toHttpClient).returns.toEqualTypeOf<HttpClient.HttpClient>()
  })
})

describe("GroupClient.call", () => {
  it("requires one value for each name in its template, and no other", () => {
    GroupClient.call("GET", "/consumers/{id}/reports/{report}", { id: "42", report: 7 })
    GroupClient.call("GET", "/consumers", {})
    // @ts-expect-error: the value of id is missing
    GroupClient.call("GET", "/consumers/{id}", {})
    // @ts-expect-error: the template has no name idd
    GroupClient.call("GET", "/consumers/{id}", { idd: "42" })
    // @ts-expect-error: the template has no name page
    GroupClient.call("GET", "/consumers/{id}", { id: "42", page: 2 })
    // @ts-expect-error: the template has no names
    GroupClient.call("GET", "/consumers", { id: "42" })
    // @ts-expect-error: a value may be missing
    GroupClient.call("GET", "/consumers/{id}", { id: undefined })
    // @ts-expect-error: the template is no path
    GroupClient.call("GET", "consumers/{id}", { id: "42" })
    // @ts-expect-error: there is no such method
    GroupClient.call("FETCH", "/consumers/{id}", { id: "42" })
  })

  it("adds to the errors of a client only that of a refused value", () => {
    const ofGroup = Effect.flatMap(DataAccess.DataAccess, GroupClient.call("GET", "/consumers/{id}", { id: "42" }))
    expectTypeOf<Effect.Effect.Error<typeof ofGroup>>().toEqualTypeOf<GroupClient.GroupClientError>()
    const ofOther = (client: HttpClient.HttpClient.With<"down", "needed">) =>
      GroupClient.call(client, "GET", "/consumers/{id}", { id: "42" })
    expectTypeOf<ReturnType<typeof ofOther>>().toEqualTypeOf<
      Effect.Effect<HttpClientResponse.HttpClientResponse, "down" | HttpClientError.RequestError, "needed">
    >()
  })
})
