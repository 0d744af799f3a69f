import { GroupClient } from "@credit-data/http-client"
import { isRequestError, kindOf } from "@credit-data/test-support/httpErrors"
import { runs } from "@credit-data/test-support/searches"
import { HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { call, callOver } from "./support/calls.ts"
import { rejecting, transport } from "./support/fakes.ts"

/** What is sent for this value, or the error if nothing is sent. */
const read = (id: string | number) =>
  Effect.gen(function*() {
    const { client, sent } = yield* transport(rejecting())
    const error = yield* callOver(client, GroupClient.call("GET", "/data-access/consumers/{id}/score", { id })).pipe(
      Effect.as(undefined),
      Effect.catchAll(Effect.succeed)
    )
    const urls = (yield* sent).map(({ url }) => url)
    assert.strictEqual(urls.length, error === undefined ? 1 : 0)
    return error ?? urls[0]
  })

const prefix = "https://api.example/v1/data-access/consumers/"

// the unit "binary" of fast-check takes a second to begin
const anyText = FastCheck.array(FastCheck.oneof(FastCheck.nat(0x7f), FastCheck.nat(0xffff)), { maxLength: 20 })
  .map((units) => String.fromCharCode(...units))

describe("a value in the path of a call", () => {
  for (
    const [value, encoded] of [
      ["42", "42"],
      [42, "42"],
      ["a b/c?d=e#f", "a%20b%2Fc%3Fd%3De%23f"],
      ["ü%2e", "%C3%BC%252e"],
      ["...", "..."],
      ["{id}", "%7Bid%7D"]
    ] as const
  ) {
    it.effect(`is encoded: ${JSON.stringify(value)}`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* read(value), `${prefix}${encoded}/score`)
      }))
  }

  // the other spellings of such a path: target.test.ts
  for (const value of ["", ".", "..", "x/../../../furnishment/submissions/1", "\ud800"]) {
    it.effect(`that would make another path is refused, and nothing is sent: ${JSON.stringify(value)}`, () =>
      Effect.gen(function*() {
        const error = yield* read(value)
        assert(isRequestError(error))
        assert.strictEqual(kindOf(error), "RequestError InvalidUrl")
        assert.include(
          error.message,
          "make the segment {id} empty, \".\" or \"..\", or cannot be encoded, so nothing was sent"
        )
        assert.notInclude(error.message, "furnishment")
      }))
  }

  it("is one segment of the path, whatever it contains", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(anyText, async (value) => {
        const sentTo = await Effect.runPromise(read(value))
        if (isRequestError(sentTo)) return
        const [encoded = "", ...rest] = String(sentTo).slice(prefix.length).split("/")
        assert.deepStrictEqual([decodeURIComponent(encoded), rest], [value, ["score"]])
      }),
      runs(200)
    ))

  it.effect("is refused if the template names it and it is missing, even if every object has a member of this name", () =>
    Effect.gen(function*() {
      for (const name of ["other", "constructor", "toString", "__proto__"]) {
        const { exit, sent } = yield* call((client) =>
          Effect.flip(GroupClient.call(client, "GET", `/a/{${name}}`, { id: 42 }))
        )
        assert.deepStrictEqual([sent, exit._tag], [[], "Success"], name)
      }
      const { sent } = yield* call(GroupClient.call("GET", "/a/{constructor}", { constructor: 42 }))
      assert.strictEqual(sent[0]?.url, "https://api.example/v1/a/42")
    }))

  it.effect("is refused if it makes a segment \"..\" together with the template or another value", () =>
    Effect.gen(function*() {
      const dots = GroupClient.call("GET", "/a/{x}{y}/b", { x: ".", y: "." })
      const dot = GroupClient.call("GET", "/a/.{x}/b", { x: "." })
      for (const use of [dots, dot]) {
        const { exit, sent } = yield* call((client) => Effect.flip(use(client)))
        assert.deepStrictEqual([sent, exit._tag], [[], "Success"])
      }
      const { sent } = yield* call(GroupClient.call("GET", "/a/{x}.{y}", { x: "report", y: "pdf" }))
      assert.strictEqual(sent[0]?.url, "https://api.example/v1/a/report.pdf")
    }))
})

describe("a call with values in its path", () => {
  const template = "/data-access/consumers/{id}"

  it.effect("has a span with the template, over a client that the program has changed too", () =>
    Effect.gen(function*() {
      for (
        const change of [
          (client: GroupClient.GroupClient) => client,
          HttpClient.filterStatusOk,
          HttpClient.mapRequest(HttpClientRequest.acceptJson)
        ]
      ) {
        const { spans } = yield* call((client) => change(client).pipe(GroupClient.call("GET", template, { id: "42" })))
        assert.deepStrictEqual(spans.map(({ name }) => name), [`GET ${template}`])
        assert.strictEqual(spans[0]?.attributes["url.template"], template)
        assert.notInclude(JSON.stringify(spans[0]?.attributes), "/4")
      }
    }))

  it.effect("sends the method, the query, the headers and the body of its options", () =>
    Effect.gen(function*() {
      const { sent } = yield* call((client) =>
        GroupClient.call(client, "POST", template, { id: "42" }, {
          urlParams: { page: 2 },
          headers: { "idempotency-key": "k" },
          body: HttpBody.text("row")
        })
      )
      const [first] = sent
      assert.strictEqual(first?.method, "POST")
      assert.strictEqual(first?.url, `${prefix}42`)
      assert.deepStrictEqual([...(first?.urlParams ?? [])], [["page", "2"]])
      assert.strictEqual(first?.headers["idempotency-key"], "k")
      assert.strictEqual(first?.body._tag, "Uint8Array")
    }))

  it.effect("can be made again, also after a refused value", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting())
      const get = (id: string) => callOver(client, GroupClient.call("GET", template, { id }))
      const program = Effect.catchAll(get(".."), () => get("42"))
      yield* program
      yield* program
      assert.deepStrictEqual((yield* sent).map(({ url }) => url), [`${prefix}42`, `${prefix}42`])
    }))
})
