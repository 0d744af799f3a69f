import { AccessTokens } from "@credit-data/core"
import { DataAccess, Furnishment } from "@credit-data/http-client"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, TestClock } from "effect"
import { fallback } from "./support/plans.ts"
import { setUp } from "./support/versions.ts"

describe("the clients of endpoint groups, in a migration with the fallback", () => {
  it.scoped("send each call that gets 401 with V2 tokens again with a V1 token, and no other", () =>
    Effect.gen(function*() {
      const sent: Array<string> = []
      const api = HttpClient.make((request) => {
        const token = request.headers["authorization"]?.slice(7) ?? ""
        const { pathname } = new URL(request.url)
        sent.push(`${pathname} ${token}`)
        const status = pathname === "/furnishment" && token.startsWith("V2") ? 401 : 200
        return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status })))
      })
      const { tokens } = yield* setUp(fallback)
      const clients = yield* Layer.build(
        Layer.merge(DataAccess.layer(), Furnishment.layer()).pipe(
          Layer.provide(Layer.succeed(AccessTokens.AccessTokens, tokens)),
          Layer.provide(Layer.succeed(HttpClient.HttpClient, api))
        )
      )
      const furnishment = Context.get(clients, Furnishment.Furnishment)
      const dataAccess = Context.get(clients, DataAccess.DataAccess)
      const status = (client: typeof furnishment | typeof dataAccess, path: string) =>
        Effect.map(client.get(path), ({ status }) => status)
      for (let minute = 0; minute < 4; minute++) {
        assert.strictEqual(yield* status(furnishment, "/furnishment"), 200)
        assert.strictEqual(yield* status(dataAccess, "/data-access"), 200)
        yield* TestClock.adjust("1 minute")
      }
      assert.deepStrictEqual(sent.slice(0, 4), [
        "/furnishment V2-1",
        "/furnishment V2-2",
        "/furnishment V1-1",
        "/data-access V2-2"
      ])
      assert.lengthOf(sent.filter((each) => each.includes("V1")), 4)
      assert.lengthOf(sent, 16)
    }))
})
