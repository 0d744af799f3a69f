import { type AccessTokens, TokenError } from "@credit-data/core"
import { type FinishedCall, HttpError, observeCalls } from "@credit-data/core/Internal"
import { DataAccess, EnablementServices, Furnishment, GroupClient } from "@credit-data/http-client"
import { after } from "@credit-data/test-support/after"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, TestClock, Tracer } from "effect"
import { inspect } from "node:util"
import { call, failingWith } from "./support/calls.ts"
import { over, rejecting, supply, transport } from "./support/fakes.ts"

describe("the span of a call", () => {
  it.effect("has the name of the method, and the kind client", () =>
    Effect.gen(function*() {
      const kinds: Array<string> = []
      const { spans, tracer } = recordingTracer((kind) => kinds.push(kind))
      const { client } = yield* transport(rejecting())
      const tokens = yield* supply()
      yield* Effect.gen(function*() {
        yield* Effect.provide(
          Effect.flatMap(Furnishment.Furnishment, (client) => client.get("/a")),
          over(Furnishment.layer(), tokens, client)
        )
        yield* Effect.provide(
          Effect.flatMap(EnablementServices.EnablementServices, (client) => client.get("/a")),
          over(EnablementServices.layer(), tokens, client)
        )
      }).pipe(Effect.withTracer(tracer))
      assert.deepStrictEqual(spans.map(({ name }) => name), ["GET", "GET"])
      assert.deepStrictEqual(kinds, ["client", "client"])
    }))
})

const refused = new TokenError.InvalidClient({ environment: "test", tokenEndpoint: "t", endpointStatus: 401 })
const get = (client: GroupClient.GroupClient) => client.get("/consumers/42?page=2")
const responding = (status: number) => () =>
  new Response("the body of consumer 42", { status, headers: { "x-consumer": "42" } })

/** A request of a program without types. */
const withMethod = (method: string) => Object.assign(HttpClientRequest.get("/a"), { method })

/** What every call shows. */
const common = {
  "credit_data.environment": "test",
  "credit_data.group": "Data Access",
  "http.request.method": "GET",
  "server.address": "api.example",
  "server.port": 443,
  "credit_data.token.wait_duration": 0
}

describe("the traces of a call", () => {
  it.effect("have one span, without path, query and token, and send nothing to the third party", () =>
    Effect.gen(function*() {
      const { sent, spans } = yield* call(get, { respond: rejecting("token-1") })
      assert.deepStrictEqual(spans.map(({ name }) => name), ["GET"])
      assert.deepStrictEqual(spans[0]?.attributes, {
        ...common,
        "credit_data.token.replaced": true,
        "http.request.resend_count": 1,
        "http.response.status_code": 200
      })
      for (const { headers } of sent) assert.notProperty(headers, "traceparent")
    }))

  it.effect("show the client of the supply, and the port of a base URL without TLS", () =>
    Effect.gen(function*() {
      const { spans } = yield* call(get, {
        supply: { baseUrl: "http://localhost" },
        changeTokens: () => ({ clientId: "a\nb" })
      })
      assert.deepInclude(spans[0]?.attributes, { "credit_data.client_id": "a\\nb", "server.port": 80 })
    }))

  it.effect("end as an error after a response with 500, with closed values only", () =>
    Effect.gen(function*() {
      const { exit, spans } = yield* call(get, { respond: responding(500) })
      assert.isTrue(Exit.isSuccess(exit), "the caller gets the response")
      assert.deepStrictEqual(spans[0]?.attributes, {
        ...common,
        "http.response.status_code": 500,
        "error.type": "500"
      })
      const ended = spans[0]?.exit ?? Exit.void
      assert.strictEqual(Exit.isFailure(ended) ? Cause.pretty(ended.cause) : "a success", "CallFailure: 500")
      assert.notInclude(inspect(spans, { depth: 20 }), "42")
    }))

  const template = GroupClient.withPathTemplate("/consumers/{id}")
  for (
    const [name, use] of [
      ["a call", (client: GroupClient.GroupClient) => template(client.get("/consumers/42"))],
      [
        "all calls of a client",
        (client: GroupClient.GroupClient) => HttpClient.transformResponse(client, template).get("/consumers/42")
      ]
    ] as const
  ) {
    it.effect(`show the template of the path, for ${name}`, () =>
      Effect.gen(function*() {
        const { spans } = yield* call(use)
        assert.deepStrictEqual(spans.map(({ name }) => name), ["GET /consumers/{id}"])
        assert.strictEqual(spans[0]?.attributes["url.template"], "/consumers/{id}")
        assert.notInclude(JSON.stringify(spans[0]?.attributes), "/4")
      }))
  }

  const ofTransport = failingWith(() => Object.assign(new Error("no"), { code: "ECONNREFUSED", port: 443 }))
  const refusing = HttpClient.filterStatusOk(
    HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, responding(503)())))
  )
  const errorTypes: ReadonlyArray<readonly [name: string, options: Parameters<typeof call>[1], type: unknown]> = [
    ["the status of a response that is an error", { respond: responding(404) }, "404"],
    ["the first status that is an error", { respond: responding(400) }, "400"],
    ["nothing after a redirect", { respond: responding(302) }, undefined],
    ["the tag of a missing scope", { supply: { granted: [] } }, "InsufficientScope"],
    ["the tag of a missing token", { changeTokens: () => ({ get: Exit.fail(refused) }) }, "InvalidClient"],
    ["why a request got no response", { client: ofTransport }, "Refused"],
    ["why a request could not be sent", {
      client: HttpClient.make((request) => Effect.fail(HttpError.requestError("Encode", { request })))
    }, "Encode"],
    ["the status that the program's client turns into an error", { client: refusing }, "503"],
    ["that the transport died", { client: HttpClient.make(({ url }) => Effect.die(new Error(url))) }, "Other"]
  ]
  for (const [name, options, expected] of errorTypes) {
    it.effect(`have as error.type ${name}, and show nothing else of it`, () =>
      Effect.gen(function*() {
        const { spans } = yield* call(get, options)
        assert.strictEqual(spans[0]?.attributes["error.type"], expected)
        assert.notInclude(inspect(spans, { depth: 20 }), "consumers")
      }))
  }

  it.effect("do not show a method that does not exist in HTTP", () =>
    Effect.gen(function*() {
      const { spans } = yield* call((client) => client.execute(withMethod("CANARY-42")))
      assert.deepStrictEqual(
        spans.map(({ attributes, name }) => [name, attributes["http.request.method"]]),
        [["HTTP", "_OTHER"]]
      )
    }))

  it.effect("do not change the result of a call whose span cannot be ended", () =>
    Effect.gen(function*() {
      const { tracer } = recordingTracer()
      const throwing = Tracer.make({
        ...tracer,
        span: (...options) =>
          Object.assign(tracer.span(...options), {
            end: () => {
              throw new Error("no exporter")
            }
          })
      })
      const { exit } = yield* call((client) => Effect.withTracer(client.get("/a"), throwing))
      assert.isTrue(Exit.isSuccess(exit))
    }))

  it.effect("end as interrupted, and not as failed, when their caller gives up", () =>
    Effect.gen(function*() {
      const { spans } = yield* call((client) => Effect.timeoutOption(client.get("/a"), 0), {
        client: HttpClient.make(() => Effect.never)
      })
      const ended = spans[0]?.exit ?? Exit.void
      assert.isTrue(Exit.isInterrupted(ended) && !Exit.isSuccess(ended))
      assert.strictEqual(spans[0]?.attributes["error.type"], "Interrupted")
    }))

  it.effect("do not exist if the program disables them, and the call is still sent again with another token", () =>
    Effect.gen(function*() {
      const { sent, spans } = yield* call(
        (client) => Effect.locally(client.get("/a"), HttpClient.currentTracerDisabledWhen, () => true),
        { respond: rejecting("token-1") }
      )
      assert.lengthOf(sent, 2)
      assert.lengthOf(spans, 0)
    }))

  it.effect("record how long the call waited for tokens", () =>
    Effect.gen(function*() {
      const { result: { spans } } = yield* after(
        "60 millis",
        call(get, {
          respond: rejecting("token-1"),
          changeTokens: (tokens) => ({
            get: Effect.delay(tokens.get, "47 millis"),
            replace: (token) => Effect.delay(tokens.replace(token), "13 millis")
          })
        })
      )
      assert.strictEqual(spans[0]?.attributes["credit_data.token.wait_duration"], 0.06)
    }))

  it.effect("send trace headers to the third party when propagateTrace is set", () =>
    Effect.gen(function*() {
      const { sent, spans } = yield* call(get, { settings: { propagateTrace: true } })
      assert.include(sent[0]?.headers["traceparent"], spans[0]?.spanId)
    }))

  it.effect("can be switched off by the caller", () =>
    Effect.gen(function*() {
      const { sent, spans } = yield* call(
        (client) => client.pipe(HttpClient.withTracerDisabledWhen(() => true)).get("/a"),
        { settings: { propagateTrace: true } }
      )
      assert.strictEqual(spans.length, 0)
      assert.notProperty(sent[0]?.headers, "traceparent")
    }))

  it.effect("send no trace headers where the caller has switched tracing off, which would name no trace", () =>
    Effect.gen(function*() {
      const { sent } = yield* call((client) => Effect.withTracerEnabled(get(client), false), {
        settings: { propagateTrace: true }
      })
      assert.notProperty(sent[0]?.headers, "traceparent")
      assert.notProperty(sent[0]?.headers, "b3")
    }))

  it.effect("have the call's span as the parent of the spans of transformClient and of the supply", () =>
    Effect.gen(function*() {
      const { spans } = yield* call(get, {
        respond: rejecting("token-1"),
        settings: { transformClient: HttpClient.transformResponse(Effect.withSpan("inside")) },
        changeTokens: (tokens) => ({ replace: (token) => Effect.withSpan(tokens.replace(token), "replace") })
      })
      const [own, ...others] = spans
      assert.deepStrictEqual(others.map(({ name, parent }) => [name, parent]), [
        ["inside", own?.spanId],
        ["replace", own?.spanId],
        ["inside", own?.spanId]
      ])
    }))

  const tracings: Record<string, <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>> = {
    "with a span": Effect.withTracer(recordingTracer().tracer),
    "without a span": (call) => Effect.locally(call, HttpClient.currentTracerDisabledWhen, () => true)
  }
  for (const [name, withTracing] of Object.entries(tracings)) {
    it.effect(`restore the settings of the caller's fiber, ${name}`, () =>
      Effect.gen(function*() {
        const settings = Effect.all([
          Effect.withFiberRuntime<unknown>((fiber) =>
            Effect.succeed(fiber.getFiberRef(HttpClient.currentTracerDisabledWhen))
          ),
          Effect.serviceOption(FetchHttpClient.RequestInit),
          Effect.serviceOption(Tracer.ParentSpan)
        ])
        const before = yield* settings
        const { client } = yield* transport(rejecting("token-1"))
        for (const each of [client, HttpClient.make(() => Effect.interrupt)]) {
          const after = yield* Effect.gen(function*() {
            const dataAccess = yield* DataAccess.DataAccess
            yield* Effect.exit(withTracing(dataAccess.get("/a")))
            return yield* settings
          }).pipe(Effect.provide(over(DataAccess.layer(), yield* supply(), each)))
          assert.deepStrictEqual(after, before)
        }
      }))
  }
})

describe("what observes the calls of a supply", () => {
  const observed = Effect.fnUntraced(
    function*(
      client: HttpClient.HttpClient,
      change: Partial<AccessTokens.Service> = {},
      use: (client: GroupClient.GroupClient) => Effect.Effect<unknown, unknown> = get
    ) {
      const seen: Array<string | FinishedCall> = []
      const tokens = { ...yield* supply(), ...change }
      yield* observeCalls(tokens, {
        begins: (group) => Effect.sync(() => void seen.push(group)),
        ends: (call) => Effect.sync(() => void seen.push(call))
      })
      const layer = over(DataAccess.layer(), tokens, client)
      yield* Effect.exit(Effect.provide(Effect.flatMap(DataAccess.DataAccess, use), layer))
      return seen
    }
  )
  const common = { group: "Data Access", method: "GET", template: undefined }
  const slow = HttpClient.make((request) =>
    Effect.delay(Effect.succeed(HttpClientResponse.fromWeb(request, responding(202)())), "1500 millis")
  )
  const rows: ReadonlyArray<readonly [name: string, calls: ReturnType<typeof observed>, ended: Partial<FinishedCall>]> =
    [
      ["its status and its seconds", observed(slow), { status: 202, errorType: undefined, seconds: 1.5 }],
      ["its interruption", observed(HttpClient.make(() => Effect.interrupt)), {
        status: undefined,
        errorType: "Interrupted",
        seconds: 0
      }],
      ["a defect of the supply", observed(slow, { get: Exit.die("no") }), {
        status: undefined,
        errorType: "Defect",
        seconds: 0
      }],
      ["no method that does not exist in HTTP", observed(slow, {}, (client) => client.execute(withMethod("CANARY"))), {
        method: "_OTHER",
        status: undefined,
        errorType: "Encode",
        seconds: 0
      }]
    ]
  for (const [name, calls, ended] of rows) {
    it.scoped(`gets the beginning and the end of each call, with ${name}`, () =>
      Effect.gen(function*() {
        yield* TestClock.adjust("1 minute")
        const { result } = yield* after("1500 millis", calls)
        assert.deepStrictEqual(result, ["Data Access", { ...common, ...ended }])
      }))
  }

  it.scoped("gets the beginning of a call before its end", () =>
    Effect.gen(function*() {
      const begun: Array<string> = []
      const tokens = yield* supply()
      yield* observeCalls(tokens, {
        begins: (group) => Effect.sync(() => void begun.push(group)),
        ends: () => Effect.void
      })
      const layer = over(DataAccess.layer(), tokens, HttpClient.make(() => Effect.never))
      yield* Effect.fork(Effect.provide(Effect.flatMap(DataAccess.DataAccess, get), layer))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(begun, ["Data Access"])
    }))
})
