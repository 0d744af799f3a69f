import { DataAccess } from "@credit-data/http-client"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { over, supply } from "./support/fakes.ts"

describe("a request with HttpClient.withScope", () => {
  it.effect("is aborted when the scope closes, even when the client sends another request object", () =>
    Effect.gen(function*() {
      let signal: AbortSignal | undefined
      const client = HttpClient.make((request, _, aborted) => {
        signal = aborted
        return Effect.succeed(HttpClientResponse.fromWeb(request, new Response()))
      })
      const layer = over(DataAccess.layer(), yield* supply(), client)
      const dataAccess = yield* Effect.provide(DataAccess.DataAccess, layer)
      const scope = yield* Scope.make()
      yield* Scope.extend(HttpClient.withScope(dataAccess).get("/a"), scope)
      assert.isFalse(signal?.aborted)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(signal?.aborted)
      yield* dataAccess.get("/a")
      assert.isFalse(signal?.aborted, "a request without a scope belongs to none")
    }))

  it.effect("does not take a call with it that is made while it is sent", () =>
    Effect.gen(function*() {
      const signals = new Map<string, AbortSignal>()
      const client = HttpClient.make((request, { pathname }, signal) => {
        signals.set(pathname, signal)
        return Effect.succeed(HttpClientResponse.fromWeb(request, new Response()))
      })
      const inner = yield* Effect.provide(DataAccess.DataAccess, over(DataAccess.layer(), yield* supply(), client))
      const transformClient = (client: HttpClient.HttpClient) =>
        HttpClient.transform(client, (call) => Effect.zipRight(Effect.orDie(inner.get("/inner")), call))
      const layer = over(DataAccess.layer({ transformClient }), yield* supply(), client)
      const outer = yield* Effect.provide(DataAccess.DataAccess, layer)
      const scope = yield* Scope.make()
      yield* Scope.extend(HttpClient.withScope(outer).get("/outer"), scope)
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(signals.get("/v1/inner")?.aborted)
    }))
})
