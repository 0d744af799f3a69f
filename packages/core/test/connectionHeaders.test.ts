import { HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import manifest from "../package.json" with { type: "json" }
import { restrictedClient } from "../src/internal/restrictedClient.ts"
import { requestReason } from "../src/internal/httpError.ts"

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
    ({ headers }) => Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "user-agent"))
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

  it.effect("lose an upgrade, because no caller gets its socket", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* left({ connection: "x-one, Upgrade", upgrade: "websocket" }), {})
    }))

  it.effect("lose a length without a body, and get the length of the body in place of another", () =>
    Effect.gen(function*() {
      for (const length of ["5", "undefined"]) {
        assert.deepStrictEqual(yield* left({ "content-length": length, "x-mine": "1" }), { "x-mine": "1" })
      }
      const bodies = [HttpBody.text("hello"), HttpBody.stream(Stream.empty, "text/plain", 5)]
      for (const body of bodies) {
        for (const length of ["5", "4", "undefined"]) {
          const request = HttpClientRequest.post("https://api.example/a", { headers: { te: "trailers" }, body })
          const { headers } = yield* sent(HttpClientRequest.setHeader(request, "content-length", length))
          assert.strictEqual(headers["content-length"], "5")
        }
      }
    }))

  it.effect("are all that changes of a request, except for the User-Agent", () =>
    Effect.gen(function*() {
      const request = HttpClientRequest.put("https://api.example/a", { headers: { te: "trailers", "x-mine": "1" } })
        .pipe(
          HttpClientRequest.setUrlParam("page", "2"),
          HttpClientRequest.setHash("part"),
          HttpClientRequest.bodyText("hello")
        )
      const { body, hash, headers, method, url, urlParams } = yield* sent(request)
      assert.deepStrictEqual([method, url, [...urlParams]], ["PUT", "https://api.example/a", [["page", "2"]]])
      assert.deepStrictEqual(hash, Option.some("part"))
      assert.strictEqual(body, request.body)
      assert.deepStrictEqual(Object.keys(headers).toSorted(), [
        "content-length",
        "content-type",
        "user-agent",
        "x-mine"
      ])
      const plain = HttpClientRequest.get("https://api.example/a", { headers: { "user-agent": "mine/1" } })
      assert.strictEqual(yield* sent(plain), plain)
    }))
})

describe("the User-Agent", () => {
  it.effect("names this project and its version, unless the request has one", () =>
    Effect.gen(function*() {
      const request = HttpClientRequest.get("https://api.example/a")
      assert.strictEqual((yield* sent(request)).headers["user-agent"], `credit-data/${manifest.version}`)
      const own = HttpClientRequest.setHeader(request, "User-Agent", "mine/1")
      assert.strictEqual((yield* sent(own)).headers["user-agent"], "mine/1")
    }))
})

describe("a body", () => {
  it.effect("of unknown length is refused with a DELETE, GET, HEAD or OPTIONS, and the message says what to do", () =>
    Effect.gen(function*() {
      for (const method of ["DELETE", "GET", "HEAD", "OPTIONS"] as const) {
        const request = HttpClientRequest.make(method)("https://api.example/a", { body: HttpBody.stream(Stream.empty) })
        const error = yield* Effect.flip(sent(request))
        assert.strictEqual(requestReason(error), "Encode")
        assert.include(
          error.message,
          `The body of a ${method} needs a length, so nothing was sent. Set the contentLength of its stream`
        )
      }
    }))
})

describe("a method", () => {
  for (const method of ["delete", "Post", "PROPFIND", "QUERY", "TRACE", "GET /second HTTP/1.1\r\n"]) {
    it.effect(`is refused if it is not one of the seven, and nothing is sent: ${JSON.stringify(method)}`, () =>
      Effect.gen(function*() {
        const body = HttpBody.stream(Stream.make(new Uint8Array(5)))
        // @ts-expect-error: a program without types may pass this
        const request = HttpClientRequest.make(method)("https://api.example/a", { body })
        const error = yield* Effect.flip(sent(request))
        assert.strictEqual(requestReason(error), "Encode")
        assert.include(error.message, "so nothing was sent. Methods are case-sensitive")
      }))
  }
})

describe("a header that cannot be sent", () => {
  for (
    const [name, value, shown] of [
      ["x-name", "a\nb", "x-name"],
      ["x-name", "\u0100", "x-name"],
      ["bad name", "a", "bad?name"],
      ["n\u00fc".repeat(40), "a", "n?".repeat(32)]
    ] as const
  ) {
    it.effect(`is named, and nothing is sent: ${JSON.stringify([name, value]).slice(0, 30)}`, () =>
      Effect.gen(function*() {
        const request = HttpClientRequest.get("https://api.example/a", { headers: { [name]: value } })
        const error = yield* Effect.flip(sent(request))
        assert.strictEqual(requestReason(error), "Encode")
        assert.include(
          error.message,
          `The header ${shown} has a character that cannot be sent in a header, so nothing was sent. Encode or remove it`
        )
      }))
  }
})
