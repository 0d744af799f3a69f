import { kindOf } from "@credit-data/test-support/httpErrors"
import { HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, Stream } from "effect"
import { callOver } from "./support/calls.ts"
import { rejecting, transport } from "./support/fakes.ts"

/** A request as the client sends it. */
const sent = Effect.fnUntraced(function*(request: HttpClientRequest.HttpClientRequest) {
  const { client, sent } = yield* transport(rejecting())
  yield* callOver(client, (client) => client.execute(request))
  return (yield* sent)[0] ?? request
})

describe("a body", () => {
  const form = (text: string) => HttpBody.formDataRecord({ a: new File([text], "a.txt") })

  it.effect("that is a form keeps the type with its own boundary, and raw content or a stream the caller's type", () =>
    Effect.gen(function*() {
      const typeOf = (body: HttpBody.HttpBody, headers: Record<string, string> = {}) =>
        Effect.map(
          sent(HttpClientRequest.post("/a", { body }).pipe(HttpClientRequest.setHeaders(headers))),
          ({ headers }) => headers["content-type"]
        )
      const foreign = { "content-type": "multipart/form-data; boundary=foreign" }
      assert.match((yield* typeOf(form("a"), foreign)) ?? "none", /^multipart\/form-data; boundary=(?!foreign)/)
      assert.strictEqual(yield* typeOf(HttpBody.raw("{}"), { "content-type": "application/json" }), "application/json")
      assert.strictEqual(yield* typeOf(HttpBody.raw(new Uint8Array(1))), undefined)
      assert.strictEqual(yield* typeOf(HttpBody.raw(new Blob(["a"], { type: "text/csv" }))), "text/csv")
      assert.strictEqual(yield* typeOf(HttpBody.stream(Stream.empty), { "content-type": "text/csv" }), "text/csv")
      assert.strictEqual(yield* typeOf(HttpBody.stream(Stream.empty, "text/xml")), "text/xml")
    }))

  it.effect("that is raw content gets its length in place of another", () =>
    Effect.gen(function*() {
      const request = HttpClientRequest.post("/a", { body: HttpBody.raw("hello") })
      const { headers } = yield* sent(HttpClientRequest.setHeader(request, "content-length", "4"))
      assert.strictEqual(headers["content-length"], "5")
    }))

  it.effect("that is a form of up to 1 MiB is sent as bytes, and a larger one as it is", () =>
    Effect.gen(function*() {
      const tagOf = (size: number) =>
        Effect.map(
          sent(HttpClientRequest.post("/a", { body: form("a".repeat(size)) })),
          ({ body }) => body._tag
        )
      assert.strictEqual(yield* tagOf(1024 * 1024), "Raw")
      assert.strictEqual(yield* tagOf(1024 * 1024 + 1), "FormData")
    }))

  const bytes = (length: number) => Stream.make(new Uint8Array(length))
  const notSent =
    "so the connection was closed before the end of the request. The server may have received a part of it"
  const streams: ReadonlyArray<readonly [name: string, body: HttpBody.Stream, failure?: string]> = [
    ["is as long as declared", HttpBody.stream(Stream.concat(bytes(2), bytes(3)), "text/plain", 5)],
    ["is as empty as declared", HttpBody.stream(Stream.empty, "text/plain", 0)],
    ["has no declared length", HttpBody.stream(bytes(5))],
    ["has no valid length", HttpBody.stream(bytes(5), "text/plain", -1)],
    ["is longer than declared", HttpBody.stream(bytes(6), "text/plain", 5), "is longer than its contentLength"],
    ["is shorter than declared", HttpBody.stream(bytes(4), "text/plain", 5), "is shorter than its contentLength"],
    ["fails", HttpBody.stream(Stream.fail("no")), "failed"],
    ["dies", HttpBody.stream(Stream.die("no"), "text/plain", 5), "failed"],
    [
      "fails after the declared length",
      HttpBody.stream(Stream.concat(bytes(5), Stream.fail("no")), "text/plain", 5),
      "failed"
    ],
    [
      "goes on after the declared length",
      HttpBody.stream(Stream.concat(bytes(5), bytes(1)), "text/plain", 5),
      "is longer than its contentLength"
    ],
    [
      "has text instead of bytes",
      // @ts-expect-error: NodeStream.fromReadable types what a Readable with an encoding returns as bytes
      HttpBody.stream(Stream.make("ü", "bc"), "text/plain", 3),
      "has a chunk that is not a Uint8Array"
    ]
  ]
  for (const [name, body, failure] of streams) {
    it.effect(`that is a stream which ${name} ${failure === undefined ? "is sent" : "fails the request"}`, () =>
      Effect.gen(function*() {
        let received = 0
        const client = HttpClient.make((request) =>
          request.body._tag === "Stream"
            ? Effect.as(
              Effect.orDie(
                Stream.runForEach(request.body.stream, ({ length }) => Effect.sync(() => void (received += length)))
              ),
              HttpClientResponse.fromWeb(request, new Response())
            )
            : Effect.die("The body is no stream")
        )
        const sent = callOver(client, (client) => client.post("/a", { body }))
        if (failure === undefined) return assert.strictEqual((yield* sent).status, 200)
        const error = yield* Effect.flip(sent)
        assert.isBelow(received, body.contentLength ?? 5, "the transport never has the whole body")
        assert.strictEqual(kindOf(error), "RequestError Encode")
        assert.include(error.message, `The stream of the body ${failure}, ${notSent}`)
      }))
  }
})

describe("a stream that fails", () => {
  for (const isFinalizer of [false, true]) {
    it.scoped(`ends its call and the transport's reading of it, so that nothing is left${isFinalizer ? ", even in a finalizer" : ""}`, () =>
      Effect.gen(function*() {
        const scope = yield* Effect.scope
        let hasEnded = false
        const client = HttpClient.make((request) =>
          request.body._tag === "Stream"
            ? Stream.runDrain(request.body.stream).pipe(
              Effect.interruptible,
              Effect.exit,
              Effect.tap(() => Effect.sync(() => void (hasEnded = true))),
              Effect.forkIn(scope),
              Effect.zipRight(Effect.never)
            )
            : Effect.die("The body is no stream")
        )
        const body = HttpBody.stream(Stream.fail("no"))
        const sending = callOver(client, (client) => client.post("/a", { body }))
        // the end of the test would wait for its own fibers
        const calling = yield* Effect.forkDaemon(
          Effect.flip(isFinalizer ? Effect.uninterruptible(sending) : sending)
        )
        for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow()
        const exit = calling.unsafePoll()
        assert(exit !== null, "the call has not ended")
        assert.strictEqual(kindOf(yield* exit), "RequestError Encode")
        assert.isTrue(hasEnded)
      }))
  }
})

describe("a stream that is sent twice", () => {
  it.effect("is checked from its beginning each time", () =>
    Effect.gen(function*() {
      const received: Array<string> = []
      const client = HttpClient.make((request) => {
        if (request.body._tag !== "Stream") return Effect.die("The body is no stream")
        return Effect.orDie(Stream.runCollect(request.body.stream)).pipe(Effect.map((chunks) => {
          const text = Array.from(chunks, (bytes) => new TextDecoder().decode(bytes)).join("")
          received.push(text)
          return HttpClientResponse.fromWeb(request, new Response(null, { status: received.length === 1 ? 503 : 200 }))
        }))
      })
      const retrying = HttpClient.retryTransient(client, { times: 1, schedule: Schedule.recurs(1) })
      const body = HttpBody.stream(Stream.make("abc", "defg").pipe(Stream.encodeText), "text/plain", 7)
      const { status } = yield* callOver(retrying, (client) => client.post("/a", { body }))
      assert.deepStrictEqual([status, received], [200, ["abcdefg", "abcdefg"]])
    }))
})
