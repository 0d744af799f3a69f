import { connectTest, InvalidClient, isRetryable } from "@credit-data/promise"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { rejection } from "./support/connection.ts"

describe("a connection for tests", () => {
  it.effect("passes each call to the function, and returns its response", () =>
    Effect.promise(async () => {
      const api = await connectTest((request) =>
        Response.json({ path: new URL(request.url).pathname }, { status: 201 })
      )
      const response = await api.dataAccess("/data-access/consumers/42")
      assert.deepStrictEqual([response.status, await response.json()], [201, { path: "/data-access/consumers/42" }])
      await api.close()
    }))

  it.effect("records the calls of all groups, with their bodies", () =>
    Effect.promise(async () => {
      const api = await connectTest(async (request) => new Response(await request.text()))
      await api.dataAccess("/data-access/consumers/42?year=2025")
      const response = await api.furnishment("/furnishment/submissions", {
        method: "POST",
        body: JSON.stringify({ amount: 7 }),
        headers: { "idempotency-key": "a" }
      })
      await api.call("enablementServices", "DELETE", "/enablement-services/{id}", { id: "a/b" })
      assert.strictEqual(await response.text(), "{\"amount\":7}")
      assert.deepStrictEqual(api.calls.map(({ method, url }) => `${method} ${url}`), [
        "GET http://localhost/data-access/consumers/42?year=2025",
        "POST http://localhost/furnishment/submissions",
        "DELETE http://localhost/enablement-services/a%2Fb"
      ])
      assert.deepStrictEqual(await api.calls[1]?.json(), { amount: 7 })
      assert.strictEqual(api.calls[1]?.headers.get("idempotency-key"), "a")
    }))

  it.effect("accepts a Request, whose URL is absolute, as openapi-fetch and axios pass it", () =>
    Effect.promise(async () => {
      const api = await connectTest(({ url }) => Response.json({ url }))
      const response = await api.dataAccess(new Request("http://localhost/data-access/consumers/42")).catch(String)
      assert.instanceOf(response, Response, String(response))
      assert.deepStrictEqual(await response.json(), { url: "http://localhost/data-access/consumers/42" })
    }))

  it.effect("rejects a call with what the function throws or rejects with", () =>
    Effect.promise(async () => {
      const failure = new InvalidClient("refused", {
        environment: "test",
        tokenEndpoint: "http://localhost",
        endpointStatus: 401,
        retryable: false
      })
      const throwing = await connectTest(() => {
        throw failure
      })
      const rejecting = await connectTest(() => Promise.reject(failure))
      assert.strictEqual(await rejection(throwing.dataAccess("/data-access/consumers/42")), failure)
      assert.strictEqual(await rejection(rejecting.dataAccess("/data-access/consumers/42")), failure)
      assert.isFalse(isRetryable(failure))
    }))

  it.effect("ends a call that the function does not answer, by its signal and by close", () =>
    Effect.promise(async () => {
      const stop = new AbortController()
      const api = await connectTest(({ url }) => {
        if (url.endsWith("/b")) stop.abort("stop")
        return new Promise(() => {})
      })
      const aborted = rejection(api.dataAccess("/a", { signal: stop.signal }))
      const closed = rejection(api.dataAccess("/b"))
      assert.strictEqual(await aborted, "stop")
      await api.close()
      assert.include(await closed, { reason: "Closed" })
    }))

  it.effect("has a token and a status", () =>
    Effect.promise(async () => {
      const api = await connectTest(() => new Response())
      assert.strictEqual(await api.token(), "test-token")
      assert.deepInclude(await api.status(), {
        usable: true,
        environment: "test",
        clientId: undefined,
        version: undefined
      })
    }))
})
