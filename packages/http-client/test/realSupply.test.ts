import { AccessToken, AccessTokens, TokenEndpoint, TokenStatus } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { bearers, rejecting, transport } from "./support/fakes.ts"

/** Calls over a real supply. The API rejects the tokens in the list, and the nth token has the scopes of the nth list. */
const setUp = Effect.fnUntraced(
  function*(rejected: ReadonlyArray<string>, ...scopes: ReadonlyArray<ReadonlyArray<string>>) {
    let requests = 0
    const endpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
      environment: { name: "test", audience: "a", baseUrl: "https://api.example" },
      url: "https://v2.example/oauth2/token",
      requestedScopes: ["data-access:all"] as const,
      deadline: Duration.seconds(10),
      requestToken: () =>
        Effect.map(DateTime.now, (requestedAt) =>
          new AccessToken.AccessToken({
            secret: Redacted.make(`token-${++requests}`),
            scopes: scopes[requests - 1] ?? ["data-access:all"],
            requestedAt,
            expiresAt: DateTime.add(requestedAt, { hours: 1 })
          }))
    })
    const { client, sent } = yield* transport((request) => rejecting(...rejected)(request))
    const context = yield* Layer.build(
      DataAccess.layer().pipe(
        Layer.provideMerge(AccessTokens.layer()),
        Layer.provide([endpoint, Layer.succeed(HttpClient.HttpClient, client)])
      )
    )
    const { status } = yield* Effect.provide(AccessTokens.AccessTokens, context)
    const group = yield* Effect.provide(DataAccess.DataAccess, context)
    return { call: Effect.either(group.get("/consumers")), sent: Effect.map(sent, bearers), status }
  }
)

describe("a call over a real supply", () => {
  it.scoped("tries each token that the supply holds, and the supply does not become unusable", () =>
    Effect.gen(function*() {
      const rejected = ["token-1", "token-2"]
      const { call, sent, status } = yield* setUp(rejected)
      yield* call
      assert.isTrue((yield* status).rejected, "the API has rejected both")
      assert.isTrue(TokenStatus.isUsable(yield* status), "there is a token")
      rejected.length = 0
      yield* call
      assert.deepStrictEqual(yield* sent, ["Bearer token-1", "Bearer token-2", "Bearer token-2"])
    }))

  it.scoped("sends no replacement that does not cover the scope of the call, and the supply reports the missing scope", () =>
    Effect.gen(function*() {
      const { call, sent, status } = yield* setUp(["token-1"], ["data-access:all"], [])
      assert.strictEqual(String(yield* call).includes("InsufficientScope"), true)
      assert.deepStrictEqual(yield* sent, ["Bearer token-1"])
      assert.deepStrictEqual((yield* status).missingScopes, ["data-access:all"])
    }))
})
