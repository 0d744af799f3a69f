import { HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { restrictedClient, withoutConnectionHeaders } from "../src/internal/restrictedClient.ts"

/** A request as a restricted client sends it. */
const sent = (request: HttpClientRequest.HttpClientRequest) => {
  let received = request
  const client = HttpClient.make((request) => {
    received = request
    return Effect.succeed(HttpClientResponse.fromWeb(request, new Response()))
  })
  return Effect.map(restrictedClient(client, { isAllowed: () => true }).execute(request), () => received)
}

/** What is left of these headers. */
const left = (headers: Record<string, string>) =>
  Effect.map(
    sent(HttpClientRequest.post("https://api.example/a", { headers })),
    ({ headers }) => Object.fromEntries(Object.entries(headers))
  )

describe("the headers of a connection", () => {
  for (
    const name of [
      "host",
      "connection",
      "keep-alive",
      "proxy-connection",
      "te",
      "trailer",
      "expect",
      "transfer-encoding",
      "upgrade",
      "http2-settings"
    ]
  ) {
    it.effect(`lose ${name}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* left({ [name]: "value", "x-mine": "1" }), { "x-mine": "1" })
      }))
  }

  it.effect("keep what Connection names, because the program may have added it", () =>
    Effect.gen(function*() {
      const headers = { authorization: "Bearer a", "idempotency-key": "1", "x-tenant": "a" }
      assert.deepStrictEqual(
        yield* left({ ...headers, connection: "X-Tenant , idempotency-key,authorization" }),
        headers
      )
    }))

  it.effect("keep an upgrade that Connection names, and no other", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* left({ connection: "x-one, Upgrade", upgrade: "websocket" }), {
        connection: "upgrade",
        upgrade: "websocket"
      })
      assert.deepStrictEqual(yield* left({ connection: "x-one", upgrade: "websocket" }), {})
      assert.deepStrictEqual(yield* left({ connection: "upgrade" }), {})
    }))

  it.effect("lose a length without a body, and a length that is not the body's", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* left({ "content-length": "5", "x-mine": "1" }), { "x-mine": "1" })
      const request = HttpClientRequest.post("https://api.example/a", {
        headers: { te: "trailers" },
        body: HttpBody.text("hello")
      })
      assert.strictEqual((yield* sent(request)).headers["content-length"], "5")
      const forged = yield* sent(HttpClientRequest.setHeader(request, "content-length", "4"))
      assert.notStrictEqual(forged.headers["content-length"], "4")
    }))

  it.effect("are all that changes of a request", () =>
    Effect.gen(function*() {
      const request = HttpClientRequest.put("https://api.example/a", { headers: { te: "trailers", "x-mine": "1" } })
        .pipe(
          HttpClientRequest.setUrlParam("page", "2"),
          HttpClientRequest.setHash("part"),
          HttpClientRequest.bodyText("hello")
        )
      const { body, hash, method, url, urlParams } = yield* sent(request)
      assert.deepStrictEqual([method, url, [...urlParams]], ["PUT", "https://api.example/a", [["page", "2"]]])
      assert.deepStrictEqual(hash, Option.some("part"))
      assert.strictEqual(body, request.body)
      const plain = HttpClientRequest.get("https://api.example/a", { headers: { "x-mine": "1" } })
      assert.strictEqual(withoutConnectionHeaders(plain), plain)
    }))
})
