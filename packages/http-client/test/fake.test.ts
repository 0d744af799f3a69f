import { TokenError } from "@credit-data/core"
import { DataAccess, EnablementServices, Fake, Furnishment, GroupClient } from "@credit-data/http-client"
import { HttpError } from "@credit-data/core/Internal"
import { HttpClientError, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"

class Reports extends Context.Tag("test/Reports")<Reports, GroupClient.GroupClient>() {}

describe("the fake of a group", () => {
  const respond = (request: HttpClientRequest.HttpClientRequest) => Response.json({ url: request.url })

  const groups: ReadonlyArray<readonly [string, Effect.Effect<GroupClient.GroupClient>]> = [
    ["Data Access", Effect.provide(DataAccess.DataAccess, DataAccess.layerTest(respond))],
    ["Furnishment", Effect.provide(Furnishment.Furnishment, Furnishment.layerTest(respond))],
    [
      "Enablement Services",
      Effect.provide(EnablementServices.EnablementServices, EnablementServices.layerTest(respond))
    ],
    ["Reports", Effect.provide(Reports, Layer.effect(Reports, Fake.make("Reports", respond)))]
  ]

  for (const [name, fake] of groups) {
    it.effect(`${name} passes each call to the handler, and records it`, () =>
      Effect.gen(function*() {
        const client = yield* fake
        assert.strictEqual(client.group, name)
        const first = yield* client.get("/a", { headers: { "idempotency-key": "b" } })
        assert.deepStrictEqual(yield* first.json, { url: "/a" })
        yield* client.pipe(GroupClient.call("POST", "/b/{id}", { id: "c/d" }))
        const calls = yield* Fake.calls(client)
        assert.deepStrictEqual(calls.map(({ method, url }) => `${method} ${url}`), ["GET /a", "POST /b/c%2Fd"])
        assert.strictEqual(calls[0]?.headers["idempotency-key"], "b")
      }))
  }

  it.effect("refuses what the real client refuses, and does not ask the handler", () =>
    Effect.gen(function*() {
      const client = yield* DataAccess.DataAccess
      for (const url of ["https://elsewhere.example/a", "/a/../b", "//elsewhere.example"]) {
        const error = yield* Effect.flip(client.get(url))
        assert.strictEqual(
          HttpClientError.isHttpClientError(error) && HttpError.requestReason(error),
          "InvalidUrl",
          url
        )
      }
      assert.deepStrictEqual(yield* Fake.calls(client), [])
    }).pipe(Effect.provide(DataAccess.layerTest(respond))))

  it.effect("can return the same response again, and every status as it is", () => {
    const response = new Response("rejected", { status: 401 })
    return Effect.gen(function*() {
      const client = yield* DataAccess.DataAccess
      for (let call = 1; call <= 2; call++) {
        const { status, text } = yield* client.get("/a")
        assert.deepStrictEqual([status, yield* text], [401, "rejected"])
      }
      assert.strictEqual((yield* Fake.calls(client)).length, 2)
    }).pipe(Effect.provide(DataAccess.layerTest(() => response)))
  })

  it.effect("fails with the error of the handler's effect", () => {
    const failure = new TokenError.ServerError({
      environment: "test",
      tokenEndpoint: "http://localhost",
      endpointStatus: 503
    })
    return Effect.gen(function*() {
      const client = yield* DataAccess.DataAccess
      assert.strictEqual(yield* Effect.flip(client.get("/a")), failure)
    }).pipe(Effect.provide(DataAccess.layerTest(() => Effect.fail(failure))))
  })

  it.effect("runs the handler's effect, and starts without calls wherever it is provided", () => {
    const Test = DataAccess.layerTest(() => Effect.succeed(new Response(null, { status: 204 })))
    const once = Effect.gen(function*() {
      const client = yield* DataAccess.DataAccess
      assert.strictEqual((yield* client.del("/a")).status, 204)
      return (yield* Fake.calls(client)).length
    })
    return Effect.gen(function*() {
      assert.strictEqual(yield* Effect.provide(once, Test), 1)
      assert.strictEqual(yield* Effect.provide(once, Test), 1)
    })
  })
})
