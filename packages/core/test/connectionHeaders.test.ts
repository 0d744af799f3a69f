import { HttpBody, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { withoutConnectionHeaders } from "../src/internal/restrictedClient.ts"

/** What is left of these headers. */
const left = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(withoutConnectionHeaders(HttpClientRequest.post("https://api.example/a", { headers })).headers)
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
    it(`lose ${name}`, () => {
      assert.deepStrictEqual(left({ [name]: "value", "x-mine": "1" }), { "x-mine": "1" })
    })
  }

  it("keep what Connection names, because the program may have added it", () => {
    const headers = { authorization: "Bearer a", "idempotency-key": "1", "x-tenant": "a" }
    assert.deepStrictEqual(left({ ...headers, connection: "X-Tenant , idempotency-key,authorization" }), headers)
  })

  it("keep an upgrade that Connection names, and no other", () => {
    assert.deepStrictEqual(left({ connection: "x-one, Upgrade", upgrade: "websocket" }), {
      connection: "upgrade",
      upgrade: "websocket"
    })
    assert.deepStrictEqual(left({ connection: "x-one", upgrade: "websocket" }), {})
    assert.deepStrictEqual(left({ connection: "upgrade" }), {})
  })

  it("lose a length without a body, and keep the length of a body", () => {
    assert.deepStrictEqual(left({ "content-length": "5", "x-mine": "1" }), { "x-mine": "1" })
    const request = HttpClientRequest.post("https://api.example/a", {
      headers: { te: "trailers" },
      body: HttpBody.text("hello")
    })
    assert.deepInclude({ ...withoutConnectionHeaders(request).headers }, { "content-length": "5" })
  })

  it("lose a length that differs from the body's", () => {
    const body = HttpBody.text("hello")
    const forged = HttpClientRequest.post("https://api.example/a", { body }).pipe(
      HttpClientRequest.setHeader("content-length", "4")
    )
    assert.notStrictEqual(withoutConnectionHeaders(forged).headers["content-length"], "4")
  })

  it("are all that changes of a request", () => {
    const request = HttpClientRequest.put("https://api.example/a", { headers: { te: "trailers", "x-mine": "1" } }).pipe(
      HttpClientRequest.setUrlParam("page", "2"),
      HttpClientRequest.setHash("part"),
      HttpClientRequest.bodyText("hello")
    )
    const { body, hash, method, url, urlParams } = withoutConnectionHeaders(request)
    assert.deepStrictEqual([method, url, [...urlParams]], ["PUT", "https://api.example/a", [["page", "2"]]])
    assert.deepStrictEqual(hash, Option.some("part"))
    assert.strictEqual(body, request.body)
    const plain = HttpClientRequest.get("https://api.example/a", { headers: { "x-mine": "1" } })
    assert.strictEqual(withoutConnectionHeaders(plain), plain)
  })
})
