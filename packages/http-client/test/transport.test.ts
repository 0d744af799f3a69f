import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { isResponseError, kindOf } from "@credit-data/test-support/httpErrors"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Equal, Option, Schedule, Stream } from "effect"
import { inspect } from "node:util"
import { callOver, get } from "./support/calls.ts"
import { rejecting, transport } from "./support/fakes.ts"

type Client = HttpClient.HttpClient

describe("a client of the program that rewrites URLs", () => {
  const elsewhere = HttpClientRequest.prependUrl("https://elsewhere.example/?")
  const rewriting: Record<string, (client: Client) => Client> = {
    "mapRequest": HttpClient.mapRequest(elsewhere),
    "mapRequest to a host whose name begins with the API's": HttpClient.mapRequest(
      HttpClientRequest.setUrl("https://api.example.evil/consumers")
    ),
    "mapRequestInput": HttpClient.mapRequestInput(elsewhere),
    "mapRequestEffect": HttpClient.mapRequestEffect((request) => Effect.succeed(elsewhere(request))),
    "mapRequestInputEffect": HttpClient.mapRequestInputEffect((request) => Effect.succeed(elsewhere(request))),
    "mapRequest, then other combinators": (client) =>
      client.pipe(
        HttpClient.mapRequest(elsewhere),
        HttpClient.filterStatusOk,
        HttpClient.retryTransient({ times: 2, schedule: Schedule.recurs(2) }),
        HttpClient.transform((response) => response),
        HttpClient.followRedirects(),
        HttpClient.withTracerPropagation(true)
      )
  }
  for (const [name, rewrite] of Object.entries(rewriting)) {
    it.effect(`with ${name} sends the token to no other origin`, () =>
      Effect.gen(function*() {
        const { client, sent } = yield* transport(rejecting())
        const error = yield* Effect.flip(get(rewrite(client)))
        assert.strictEqual(kindOf(error), "RequestError InvalidUrl")
        assert.deepStrictEqual(yield* sent, [])
      }))
  }
})

describe("a client of the program that traces", () => {
  const tracing: Record<string, (client: Client) => Client> = {
    "withTracerDisabledWhen": HttpClient.withTracerDisabledWhen(() => false),
    "withTracerPropagation": HttpClient.withTracerPropagation(true)
  }
  for (const [name, trace] of Object.entries(tracing)) {
    it.effect(`with ${name} sends no trace headers, and puts no query into a span`, () =>
      Effect.gen(function*() {
        const { spans, tracer } = recordingTracer()
        const { client, sent } = yield* transport(rejecting())
        yield* get(trace(client)).pipe(Effect.withTracer(tracer))
        const [request] = yield* sent
        assert.notProperty(request?.headers, "traceparent")
        assert.notProperty(request?.headers, "b3")
        assert.deepStrictEqual(spans.map(({ name }) => name), ["GET"])
        assert.notInclude(JSON.stringify(spans.map(({ attributes }) => attributes)), "page")
      }))
  }

  it.effect("keeps its own spans, and their parents", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const { client } = yield* transport(rejecting())
      const own = HttpClient.transformResponse(client, Effect.withSpan("own"))
      yield* get(own).pipe(Effect.withSpan("caller"), Effect.withTracer(tracer))
      assert.deepStrictEqual(spans.map(({ name }) => name), ["caller", "GET", "own"])
    }))
})

describe("the stream of a request body", () => {
  it.effect("runs in the context of the caller, with the caller's fetch options and tracing", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const seen: Array<unknown> = []
      const client = HttpClient.make((request) =>
        Effect.gen(function*() {
          seen.push(Option.getOrUndefined(yield* Effect.serviceOption(FetchHttpClient.RequestInit))?.redirect)
          if (request.body._tag === "Stream") yield* Effect.orDie(Stream.runDrain(request.body.stream))
          return HttpClientResponse.fromWeb(request, new Response())
        })
      )
      const body = HttpBody.stream(
        Stream.fromEffect(
          Effect.gen(function*() {
            const init = yield* Effect.serviceOption(FetchHttpClient.RequestInit)
            seen.push(Option.getOrUndefined(init)?.redirect)
            return new Uint8Array([1])
          }).pipe(Effect.withSpan("inner"))
        ),
        "text/plain",
        1
      )
      yield* callOver(client, (client) => client.post("/consumers", { body })).pipe(
        Effect.withSpan("caller"),
        Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
        Effect.withTracer(tracer)
      )
      assert.deepStrictEqual(seen, ["manual", "error"])
      const [caller, call, inner] = spans
      assert.strictEqual(call?.parent, caller?.spanId)
      assert.deepStrictEqual([inner?.name, inner?.parent], ["inner", call?.spanId])
    }))

  it.effect("keeps its content type and its length", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting())
      const body = HttpBody.stream(Stream.make(new Uint8Array([1, 2])), "text/csv", 2)
      yield* callOver(client, (client) => client.post("/consumers", { body }))
      const [request] = yield* sent
      assert.deepInclude({ ...request?.body }, { _tag: "Stream", contentType: "text/csv", contentLength: 2 })
    }))

  it.effect("a call leaves nothing behind in the fiber of the caller", () =>
    Effect.gen(function*() {
      const { client } = yield* transport(rejecting())
      const before = yield* Effect.context<never>()
      yield* get(client)
      yield* Effect.ignore(get(HttpClient.mapRequestEffect(client, (request) => Effect.as(Effect.yieldNow(), request))))
      assert.isTrue(Equal.equals(yield* Effect.context<never>(), before))
    }))
})

describe("a client of the program that refuses every status except 2xx", () => {
  it.effect("does not prevent the renewal after a 401", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting("token-1"))
      const response = yield* get(HttpClient.filterStatusOk(client))
      assert.strictEqual(response.status, 200)
      assert.strictEqual((yield* sent).length, 2)
    }))

  it.effect("returns its own errors for other statuses, and for a 401 that persists", () =>
    Effect.gen(function*() {
      for (const status of [401, 404, 500]) {
        const { client } = yield* transport(() => new Response("the body", { status }))
        const error = yield* Effect.flip(get(HttpClient.filterStatusOk(client)))
        assert(isResponseError(error))
        assert.deepStrictEqual([kindOf(error), error.response.status], ["ResponseError StatusCode", status])
        assert.strictEqual(yield* error.response.text, "the body")
        assert.notInclude(inspect(error, { depth: Infinity, customInspect: false }), "token-1")
      }
    }))
})
