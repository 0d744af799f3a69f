import { HttpError, Transport } from "@credit-data/core/Internal"
import { TokenError } from "@credit-data/core"
import { DataAccess, type GroupClient } from "@credit-data/http-client"
import { after } from "@credit-data/test-support/after"
import { isResponseError, kindOf } from "@credit-data/test-support/httpErrors"
import { Cookies, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Stream, TestClock } from "effect"
import { inspect } from "node:util"
import { callOver } from "./support/calls.ts"
import { over, supply } from "./support/fakes.ts"

const get = (client: HttpClient.HttpClient, url = "/a", settings?: GroupClient.Settings) =>
  Effect.gen(function*() {
    const layer = over(DataAccess.layer(settings), yield* supply(), client)
    return yield* Effect.provide(Effect.flatMap(DataAccess.DataAccess, (client) => client.get(url)), layer)
  })

const responding = (makeResponse: () => Response) =>
  HttpClient.make((request) => Effect.sync(() => HttpClientResponse.fromWeb(request, makeResponse())))

const refusal = new TokenError.InvalidClient({
  environment: "test",
  tokenEndpoint: "https://v2.example",
  endpointStatus: 401
})

const body = "a=1&b=2"

describe("a response", () => {
  const client = responding(() =>
    new Response(body, {
      status: 202,
      headers: { "x-theirs": "1", "set-cookie": "c=d", "content-type": "application/x-www-form-urlencoded" }
    })
  )

  it.effect("passes on everything that the response of the transport has", () =>
    Effect.gen(function*() {
      const response = yield* get(client)
      assert.strictEqual(response.status, 202)
      assert.strictEqual(response.headers["x-theirs"], "1")
      assert.strictEqual(Option.getOrThrow(Cookies.getValue(response.cookies, "c")), "d")
      assert.isTrue(Option.isNone(response.remoteAddress))
      assert.strictEqual(yield* response.text, body)
      assert.deepStrictEqual([...(yield* (yield* get(client)).urlParamsBody)], [["a", "1"], ["b", "2"]])
      const bytes = yield* (yield* get(client)).arrayBuffer
      assert.strictEqual(new TextDecoder().decode(bytes), body)
      const form = yield* (yield* get(client)).formData
      assert.strictEqual(form.get("b"), "2")
      const chunks = yield* Stream.runCollect((yield* get(client)).stream)
      assert.strictEqual(Array.from(chunks, (chunk) => new TextDecoder().decode(chunk)).join(""), body)
      const json = yield* get(responding(() => Response.json({ x: 1 })))
      assert.deepStrictEqual(yield* json.json, { x: 1 })
    }))

  it.effect("prints its status and the caller's request", () =>
    Effect.gen(function*() {
      const response = yield* get(client)
      const printed = JSON.parse(JSON.stringify(response))
      assert.strictEqual(printed._id, "@effect/platform/HttpClientResponse")
      assert.strictEqual(printed.status, 202)
      assert.strictEqual(printed.request.url, "https://api.example/v1/a")
      assert.strictEqual(response.request.url, "https://api.example/v1/a")
      assert.isFalse("authorization" in response.request.headers)
    }))

  it.effect("whose body cannot be read fails with an error about the caller's request, for every way to read it", () =>
    Effect.gen(function*() {
      const broken = responding(() =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.error(Object.assign(new Error("it was token-1"), { code: "ECONNRESET" }))
          })
        )
      )
      const readings: ReadonlyArray<
        (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<unknown, HttpClientError.HttpClientError>
      > = [
        ({ text }) => text,
        ({ json }) => json,
        ({ arrayBuffer }) => arrayBuffer,
        ({ urlParamsBody }) => urlParamsBody,
        ({ formData }) => formData,
        ({ stream }) => Stream.runDrain(stream)
      ]
      for (const read of readings) {
        const response = yield* get(broken)
        const error = yield* Effect.flip(read(response))
        assert(isResponseError(error))
        assert.strictEqual(kindOf(error), "ResponseError Decode")
        assert.strictEqual(error.response, response)
        assert.strictEqual(error.request, response.request)
        assert(error.cause instanceof Error)
        assert.notInclude(error.cause.message, "token-1")
        assert.isFalse("description" in error && error.description !== undefined)
      }
    }))
})

describe("a transport error", () => {
  const failing = (make: (request: HttpClientRequest.HttpClientRequest) => HttpClientError.HttpClientError) =>
    HttpClient.make((request) => Effect.fail(make(request)))

  it.effect("that is not a failure to connect keeps its reason, and its message does not mention the API", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        get(failing((request) => HttpError.requestError("Encode", { request, cause: "odd" })))
      )
      assert.strictEqual(kindOf(error), "RequestError Encode")
      assert.notInclude(error.message, "No response from the API")
    }))

  it.effect("about a response remains a ResponseError", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        get(failing((request) =>
          HttpError.responseError("Decode", {
            request,
            response: HttpClientResponse.fromWeb(request, new Response("x", { status: 418 })),
            description: "as the transport reports it"
          })
        ))
      )
      assert(isResponseError(error))
      assert.deepStrictEqual([kindOf(error), error.response.status], ["ResponseError Decode", 418])
      assert.include(error.message, "as the transport reports it")
      assert.isFalse("authorization" in error.response.request.headers)
    }))

  it.effect("that is not an HttpClientError is reported as a transport that died", () =>
    Effect.gen(function*() {
      for (const odd of ["a text", undefined, { _tag: "ResponseError" }]) {
        const fails = HttpClient.transform(responding(() => new Response()), () => Effect.fail(odd))
        // @ts-expect-error: a program without types can do this
        const error = yield* Effect.flip(get(fails))
        assert.strictEqual(kindOf(error), "RequestError Transport")
        assert.include(error.message, "Transport: The HttpClient or transformClient threw an unexpected error (")
      }
    }))
})

describe("a 401 whose token is replaced", () => {
  /** A body in pieces of 16 KiB, and how many of them were read. */
  const pieces = () => {
    let read = 0
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        read++
        controller.enqueue(new Uint8Array(16 * 1024))
        if (read === 1_000) controller.close()
      }
    }, { highWaterMark: 0 })
    return { stream, read: () => read }
  }

  it.effect("has its body read to the end, but not beyond 64 KiB, so that the connection can be reused", () =>
    Effect.gen(function*() {
      const { read, stream } = pieces()
      let sent = 0
      const client = responding(() => ++sent === 1 ? new Response(stream, { status: 401 }) : new Response())
      assert.strictEqual((yield* get(client)).status, 200)
      assert.isAtLeast(read(), 4)
      assert.isAtMost(read(), 6)
    }))

  it.effect("has its body read for at most one second", () =>
    Effect.gen(function*() {
      let sent = 0
      const silent = new ReadableStream({ pull: () => new Promise(() => {}) })
      const client = responding(() => ++sent === 1 ? new Response(silent, { status: 401 }) : new Response())
      const { result, seconds } = yield* after("2 seconds", get(client))
      assert.deepStrictEqual([result.status, seconds], [200, 1])
    }))

  it.effect("has its body read before its token is replaced, so that no connection is kept while the call waits", () =>
    Effect.gen(function*() {
      const { read, stream } = pieces()
      const client = responding(() => new Response(stream, { status: 401 }))
      const tokens = { ...(yield* supply()), replace: () => Effect.never }
      const call = yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a")).pipe(
        Effect.provide(over(DataAccess.layer(), tokens, client)),
        Effect.fork
      )
      yield* TestClock.adjust("1 second")
      assert.isAbove(read(), 0)
      yield* Fiber.interrupt(call)
    }))

  it.effect("is returned with its status, headers and body if there is no replacement", () =>
    Effect.gen(function*() {
      const headers = { "content-type": "application/json", "set-cookie": "c=d", "x-theirs": "1" }
      const client = responding(() => new Response("{\"reason\":\"revoked\"}", { status: 401, headers }))
      const response = yield* callOver(client, (client) => client.get("/a"), { replacementFails: refusal })
      assert.strictEqual(response.status, 401)
      assert.deepInclude({ ...response.headers }, { "x-theirs": "1" })
      assert.deepStrictEqual(yield* response.json, { reason: "revoked" })
      const refused = yield* Effect.flip(
        callOver(HttpClient.filterStatusOk(client), (client) => client.get("/a"), { replacementFails: refusal })
      )
      assert(isResponseError(refused))
      assert.deepStrictEqual(yield* refused.response.json, { reason: "revoked" })
      const form = responding(() => new Response(new URLSearchParams(body), { status: 401 }))
      const rejected = yield* callOver(form, (client) => client.get("/a"), { replacementFails: refusal })
      assert.strictEqual((yield* rejected.formData).get("b"), "2", "the content type says how the body is read")
    }))
})

describe("what is printed of a response", () => {
  const canary = "token-1"
  const echoing = () =>
    new Response(`You sent ${canary}`, {
      status: 403,
      headers: {
        "content-type": "text/plain",
        "content-length": "16",
        "x-request": `Bearer ${canary}`,
        "www-authenticate": `Bearer realm="${Buffer.from(canary).toString("hex")}"`
      }
    })

  it.effect("keeps its status in the error of the program's client, even if a finalizer of that client dies", () =>
    Effect.gen(function*() {
      const dying = HttpClient.transformResponse(
        HttpClient.filterStatusOk(responding(() => new Response(null, { status: 404 }))),
        Effect.ensuring(Effect.die("a finalizer"))
      )
      const error = yield* Effect.flip(get(dying))
      assert.strictEqual(HttpClientError.isHttpClientError(error) && Transport.responseOf(error)?.status, 404)
    }))

  it.effect("shows neither its body nor a header in which the API may repeat the token", () =>
    Effect.gen(function*() {
      const response = yield* get(responding(echoing))
      assert.include(yield* response.text, canary)
      const error = yield* Effect.flip(get(HttpClient.filterStatusOk(responding(echoing))))
      for (const value of [response, error]) {
        const texts = [JSON.stringify(value), inspect(value, { depth: Infinity }), String(value)]
        for (const text of texts) {
          assert.notInclude(text, canary)
          assert.notInclude(text, Buffer.from(canary).toString("hex"))
        }
      }
      const { headers } = JSON.parse(JSON.stringify(response))
      assert.sameMembers(headers, ["content-length", "content-type", "www-authenticate", "x-request"])
    }))
})
