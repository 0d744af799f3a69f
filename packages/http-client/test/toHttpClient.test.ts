import { TokenError } from "@credit-data/core"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { isRequestError, kindOf } from "@credit-data/test-support/httpErrors"
import { HttpClientError } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Exit } from "effect"
import { call } from "./support/calls.ts"
import { over, rejecting, supply, transport } from "./support/fakes.ts"

describe("GroupClient.toHttpClient", () => {
  it.effect("turns an error that is not an HttpClientError into a RequestError", () =>
    Effect.gen(function*() {
      const { value } = yield* call((client) => GroupClient.toHttpClient(client).get("/consumers"), {
        supply: { granted: [] }
      })
      const error = Either.getOrThrow(Either.flip(value))
      assert(HttpClientError.isHttpClientError(error))
      assert.include(error.message, "does not cover data-access:all")
      const refused = yield* call((client) => GroupClient.toHttpClient(client).get("//evil.example"))
      assert.isTrue(HttpClientError.isHttpClientError(Either.getOrThrow(Either.flip(refused.value))))
      assert.strictEqual(kindOf(error), "RequestError Encode", "no retry helps")
    }))
})

describe("an error of GroupClient.toHttpClient", () => {
  const plain = (replace: Partial<Parameters<typeof supply>[0]>, error?: TokenError.TokenError) =>
    Effect.gen(function*() {
      const { client } = yield* transport(rejecting())
      const tokens = yield* supply(replace)
      const layer = over(
        DataAccess.layer(),
        error === undefined ? tokens : { ...tokens, get: Exit.fail(error) },
        client
      )
      const dataAccess = yield* Effect.provide(DataAccess.DataAccess, layer)
      const failure = yield* Effect.flip(GroupClient.toHttpClient(dataAccess).get("/a"))
      assert(isRequestError(failure))
      return failure
    })
  const where = { environment: "test", tokenEndpoint: "t" }

  it.effect("has the reason Transport when the failure of the token is retryable, and Encode otherwise", () =>
    Effect.gen(function*() {
      const temporary = new TokenError.ServerError({ ...where, endpointStatus: 503 })
      const lasting = new TokenError.ServerError({ ...where, endpointStatus: 400 })
      const failure = yield* plain({}, temporary)
      assert.strictEqual(kindOf(failure), "RequestError Transport")
      assert.isTrue(TokenError.isTokenError(failure.cause))
      assert.include(failure.message, temporary.message)
      assert.strictEqual(kindOf(yield* plain({}, lasting)), "RequestError Encode")
      assert.strictEqual(kindOf(yield* plain({ granted: [] })), "RequestError Encode")
    }))
})
