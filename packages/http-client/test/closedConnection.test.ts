import { HttpError } from "@credit-data/core/Internal"
import { DataAccess } from "@credit-data/http-client"
import { isRequestError } from "@credit-data/test-support/httpErrors"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Redacted, Stream, TestClock } from "effect"
import { callOver, failingWith } from "./support/calls.ts"
import { over, rejecting, supply } from "./support/fakes.ts"

describe("a connection that was reset before a response", () => {
  const reset = { code: "ECONNRESET" }

  /** A client that fails with this cause for the first requests, and then responds. */
  const flaky = (times: number, cause: unknown = reset, reason: "Transport" | "Encode" = "Transport") => {
    let requests = 0
    const client = HttpClient.make((request) =>
      ++requests <= times
        ? Effect.fail(HttpError.requestError(reason, { request, cause }))
        : Effect.succeed(HttpClientResponse.fromWeb(request, new Response()))
    )
    return { client, requests: () => requests }
  }

  const requests: ReadonlyArray<
    readonly [name: string, request: HttpClientRequest.HttpClientRequest, sent: number]
  > = [
    ["GET", HttpClientRequest.get("/a"), 2],
    ["HEAD", HttpClientRequest.head("/a"), 2],
    ["OPTIONS", HttpClientRequest.options("/a"), 2],
    ["POST", HttpClientRequest.post("/a"), 1],
    ["PUT", HttpClientRequest.put("/a"), 1],
    ["PATCH", HttpClientRequest.patch("/a"), 1],
    ["DELETE", HttpClientRequest.make("DELETE")("/a"), 1],
    ["POST with a key", HttpClientRequest.post("/a", { headers: { "Idempotency-Key": "1" } }), 2],
    [
      "PUT with a key and a body",
      HttpClientRequest.put("/a", { headers: { "idempotency-key": "1" }, body: HttpBody.text("b") }),
      2
    ],
    [
      "PUT with a key and a stream",
      HttpClientRequest.put("/a", {
        headers: { "idempotency-key": "1" },
        body: HttpBody.stream(Stream.make(new Uint8Array([1])))
      }),
      1
    ]
  ]
  for (const [name, request, sent] of requests) {
    it.effect(`${sent === 2 ? "causes one more request" : "fails the call"}: ${name}`, () =>
      Effect.gen(function*() {
        const once = flaky(1)
        const exit = yield* Effect.exit(callOver(once.client, (client) => client.execute(request)))
        assert.strictEqual(Exit.isSuccess(exit), sent === 2)
        assert.strictEqual(once.requests(), sent)
        const always = flaky(Infinity)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(callOver(always.client, (client) => client.execute(request)))))
        assert.strictEqual(always.requests(), sent === 2 ? 4 : 1)
      }))
  }

  const changes: ReadonlyArray<
    readonly [name: string, change: (client: HttpClient.HttpClient) => HttpClient.HttpClient]
  > = [
    ["removes the key", HttpClient.mapRequest((request) => HttpClientRequest.post(request.url))],
    [
      "makes the body a stream",
      HttpClient.mapRequest(HttpClientRequest.setBody(HttpBody.stream(Stream.make(new Uint8Array([1])))))
    ]
  ]
  for (const [name, change] of changes) {
    it.effect(`fails the call if the program's client ${name}`, () =>
      Effect.gen(function*() {
        const once = flaky(1)
        const request = HttpClientRequest.post("/a", { headers: { "idempotency-key": "1" } })
        yield* Effect.flip(callOver(change(once.client), (client) => client.execute(request)))
        assert.strictEqual(once.requests(), 1)
      }))
  }

  it.effect("fails the call if the program's client adds a key, because each request may get another one", () =>
    Effect.gen(function*() {
      const once = flaky(1)
      const adding = HttpClient.mapRequest(once.client, HttpClientRequest.setHeader("idempotency-key", "1"))
      yield* Effect.flip(callOver(adding, (client) => client.post("/a")))
      assert.strictEqual(once.requests(), 1)
    }))

  it.effect("is also what an HTTP/2 server causes that refuses a stream before it processes the request", () =>
    Effect.gen(function*() {
      for (const [name, sent] of [["NGHTTP2_REFUSED_STREAM", 2], ["NGHTTP2_INTERNAL_ERROR", 1]] as const) {
        const cause = Object.assign(new Error(`Stream closed with error code ${name}`), {
          code: "ERR_HTTP2_STREAM_ERROR"
        })
        const once = flaky(1, cause)
        const exit = yield* Effect.exit(callOver(once.client, (client) => client.get("/a")))
        assert.deepStrictEqual([Exit.isSuccess(exit), once.requests()], [sent === 2, sent])
      }
    }))

  it.effect("is the only failure after which a request is sent again", () =>
    Effect.gen(function*() {
      for (
        const code of ["ENOTFOUND", "ECONNREFUSED", "ETIMEDOUT", "CERT_HAS_EXPIRED", "HPE_INVALID_CONSTANT", undefined]
      ) {
        const other = flaky(1, { code })
        yield* Effect.flip(callOver(other.client, (client) => client.get("/a")))
        assert.strictEqual(other.requests(), 1)
      }
      const encoding = flaky(1, reset, "Encode")
      yield* Effect.flip(callOver(encoding.client, (client) => client.get("/a")))
      assert.strictEqual(encoding.requests(), 1)
    }))

  it.effect("causes up to three more requests for the first call of a client", () =>
    Effect.gen(function*() {
      for (const [resets, isExpected] of [[3, true], [4, false]] as const) {
        const { client, requests } = flaky(resets)
        const exit = yield* Effect.exit(callOver(client, (client) => client.get("/a")))
        assert.strictEqual(Exit.isSuccess(exit), isExpected)
        assert.strictEqual(requests(), 4)
      }
    }))

  it.effect("causes at most three more requests for one call, although the budget has more", () =>
    Effect.gen(function*() {
      let requests = 0
      const client = HttpClient.make((request) => {
        requests++
        return request.url.endsWith("/reset")
          ? Effect.fail(HttpError.requestError("Transport", { request, cause: reset }))
          : Effect.succeed(HttpClientResponse.fromWeb(request, new Response()))
      })
      yield* callOver(
        client,
        (client) => Effect.zipRight(Effect.replicateEffect(client.get("/a"), 10), Effect.exit(client.get("/reset")))
      )
      assert.strictEqual(requests, 14)
    }))

  it.effect("at most doubles the load when all connections are reset, and the budget of resends is not saved for later", () =>
    Effect.gen(function*() {
      let requests = 0
      let isBroken = false
      const client = HttpClient.make((request) => {
        requests++
        return isBroken
          ? Effect.fail(HttpError.requestError("Transport", { request, cause: reset }))
          : Effect.succeed(HttpClientResponse.fromWeb(request, new Response()))
      })
      yield* callOver(client, (client) =>
        Effect.gen(function*() {
          yield* Effect.replicateEffect(client.get("/a"), 50)
          yield* TestClock.adjust("10 seconds")
          isBroken = true
          requests = 0
          yield* Effect.all(Array.from({ length: 100 }, () => Effect.exit(client.get("/a"))), {
            concurrency: "unbounded"
          })
          assert.strictEqual(requests, 200)
        }))
    }).pipe((test) =>
      Effect.gen(function*() {
        const running = yield* Effect.fork(test)
        for (let step = 0; step < 200; step++) yield* TestClock.adjust("1 millis")
        return yield* Fiber.join(running)
      })
    ))

  it.effect("is counted in the span with every resend, even after the token was replaced", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      let requests = 0
      const client = HttpClient.make((request) => {
        requests++
        return requests === 1 || requests === 3
          ? Effect.fail(HttpError.requestError("Transport", { request, cause: reset }))
          : Effect.succeed(HttpClientResponse.fromWeb(request, rejecting("token-1")(request)))
      })
      yield* callOver(client, (client) => client.get("/a")).pipe(Effect.withTracer(tracer))
      assert.strictEqual(requests, 4)
      assert.strictEqual(spans[0]?.attributes["http.request.resend_count"], 3)
    }))

  it.effect("after which the API rejects another token of the same call: that token is reported, and not the one before", () =>
    Effect.gen(function*() {
      const tokens = yield* supply({ renewals: 2 })
      const sent: Array<string | undefined> = []
      const client = HttpClient.make((request) => {
        sent.push(request.headers["authorization"])
        return sent.length > 1
          ? Effect.succeed(HttpClientResponse.fromWeb(request, rejecting("token-2")(request)))
          : Effect.orDie(Effect.flatMap(tokens.get, tokens.invalidate)).pipe(
            Effect.zipRight(Effect.fail(HttpError.requestError("Transport", { request, cause: reset })))
          )
      })
      const reported: Array<string> = []
      const replace: typeof tokens.replace = (token, ...tried) => {
        reported.push(Redacted.value(token.secret))
        return tokens.replace(token, ...tried)
      }
      yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a")).pipe(
        Effect.provide(over(DataAccess.layer(), { ...tokens, replace }, client))
      )
      assert.deepStrictEqual(reported, ["token-2"])
      assert.deepStrictEqual(sent, ["Bearer token-1", "Bearer token-2", "Bearer token-3"])
    }))

  it.effect("after which the next token lacks the scope fails the call with an error that reports that the request had been sent", () =>
    Effect.gen(function*() {
      const tokens = yield* supply()
      const narrower = yield* supply({ granted: [] })
      let gets = 0
      const get = Effect.suspend(() => gets++ === 0 ? tokens.get : narrower.get)
      const error = yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a")).pipe(
        Effect.provide(over(DataAccess.layer(), { ...tokens, get }, flaky(1).client)),
        Effect.flip
      )
      assert.deepInclude({ ...error }, { _tag: "InsufficientScope", wasSent: true })
    }))

  it.effect("causes one more request even with the caller's own Authorization, and no error quotes that header", () =>
    Effect.gen(function*() {
      const request = HttpClientRequest.get("/a", { headers: { authorization: "Basic my-own-credentials" } })
      const once = flaky(1)
      const sent: Array<string | undefined> = []
      const recording = HttpClient.tapRequest(
        once.client,
        ({ headers }) => Effect.sync(() => sent.push(headers["authorization"]))
      )
      yield* callOver(recording, (client) => client.execute(request))
      assert.deepStrictEqual(sent, ["Basic my-own-credentials", "Basic my-own-credentials"])
      const error = yield* Effect.flip(
        callOver(failingWith(() => new Error("it was Basic my-own-credentials")), (client) => client.execute(request))
      )
      assert(isRequestError(error))
      assert.notInclude(String(error.cause), "my-own-credentials")
    }))
})
