import { type AccessToken, TokenError } from "@credit-data/core"
import { DataAccess, EnablementServices, Furnishment, GroupClient } from "@credit-data/http-client"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { FetchHttpClient, HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, FiberRef, TestClock, Tracer } from "effect"
import { inspect } from "node:util"
import { call, failingWith, get } from "./support/calls.ts"
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

const refused = new TokenError.InvalidClient({ environment: "test", tokenEndpoint: "t", status: 401 })

describe("the traces of a call", () => {
  const traced = Effect.fnUntraced(function*(
    settings: GroupClient.Settings = {},
    wrap: (
      client: HttpClient.HttpClient.With<GroupClient.GroupClientError>
    ) => HttpClient.HttpClient.With<GroupClient.GroupClientError> = (client) => client
  ) {
    const { spans, tracer } = recordingTracer()
    const { sent } = yield* call((client) => wrap(client).get("/consumers/42?page=2"), {
      respond: rejecting("token-1"),
      settings
    }).pipe(Effect.withTracer(tracer))
    return { sent, spans }
  })

  it.effect("have one span, without path, query and token, and send nothing to the third party", () =>
    Effect.gen(function*() {
      const { sent, spans } = yield* traced()
      assert.deepStrictEqual(spans.map(({ name }) => name), ["GET"])
      assert.deepStrictEqual(spans[0]?.attributes, {
        "credit_data.environment": "test",
        "credit_data.group": "Data Access",
        "http.request.method": "GET",
        "server.address": "api.example",
        "server.port": 443,
        "credit_data.token.wait_duration": 0,
        "credit_data.token.replaced": true,
        "http.request.resend_count": 1,
        "http.response.status_code": 200
      })
      for (const { headers } of sent) assert.notProperty(headers, "traceparent")
    }))

  it.effect("end as an error after a response with 500, with closed values only", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const respond = () => new Response("the body of consumer 42", { status: 500, headers: { "x-consumer": "42" } })
      const response = yield* call((client) => client.get("/consumers/42?page=2"), { respond }).pipe(
        Effect.withTracer(tracer)
      )
      assert.isNotEmpty(response.sent)
      assert.deepStrictEqual(spans[0]?.attributes, {
        "credit_data.environment": "test",
        "credit_data.group": "Data Access",
        "http.request.method": "GET",
        "server.address": "api.example",
        "server.port": 443,
        "credit_data.token.wait_duration": 0,
        "http.response.status_code": 500,
        "error.type": "500"
      })
      const ended = spans[0]?.exit ?? Exit.void
      assert.isTrue(Exit.isFailure(ended))
      assert.include(Exit.isFailure(ended) ? Cause.pretty(ended.cause) : "", "500")
      assert.notInclude(inspect(spans, { depth: 20 }), "42")
    }))

  it.effect("show the template of the path, for a call or for all calls of a client", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const template = GroupClient.withPathTemplate("/consumers/{id}")
      yield* call((client) => template(client.get("/consumers/42"))).pipe(Effect.withTracer(tracer))
      yield* call((client) => HttpClient.transformResponse(client, template).get("/consumers/43"))
        .pipe(Effect.withTracer(tracer))
      assert.deepStrictEqual(spans.map(({ name }) => name), [
        "GET /consumers/{id}",
        "GET /consumers/{id}"
      ])
      for (const { attributes } of spans) {
        assert.strictEqual(attributes["url.template"], "/consumers/{id}")
        assert.notInclude(JSON.stringify(attributes), "/4")
      }
    }))

  const errorTypes = [
    ["the status of a response that is an error", { respond: () => new Response(null, { status: 404 }) }, "404"],
    ["the first status that is an error", { respond: () => new Response(null, { status: 400 }) }, "400"],
    ["nothing after a redirect", { respond: () => new Response(null, { status: 302 }) }, undefined],
    ["the tag of a missing scope", { granted: [] }, "InsufficientScope"],
    ["the tag of a missing token", { failure: refused }, "InvalidClient"]
  ] as const
  for (const [name, options, expected] of errorTypes) {
    it.effect(`have as error.type ${name}`, () =>
      Effect.gen(function*() {
        const { respond, failure, granted } = {
          respond: rejecting(),
          failure: undefined,
          granted: undefined,
          ...options
        }
        const { spans, tracer } = recordingTracer()
        const { client } = yield* transport(respond)
        const tokens = yield* supply(granted === undefined ? {} : { granted })
        const layer = over(
          DataAccess.layer(),
          failure === undefined ? tokens : { ...tokens, get: Exit.fail(failure) },
          client
        )
        yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a")).pipe(
          Effect.provide(layer),
          Effect.exit,
          Effect.withTracer(tracer)
        )
        assert.strictEqual(spans[0]?.attributes["error.type"], expected)
      }))
  }

  it.effect("have as error.type why a request got no response", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const refused = failingWith(() => Object.assign(new Error("no"), { code: "ECONNREFUSED", port: 443 }))
      yield* Effect.withTracer(Effect.exit(get(refused)), tracer)
      assert.strictEqual(spans[0]?.attributes["error.type"], "Refused")
      assert.notInclude(inspect(spans, { depth: 20 }), "consumers")
    }))

  it.effect("show nothing of a defect", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const dying = HttpClient.make(({ url }) => Effect.die(new Error(url)))
      const exit = yield* Effect.withTracer(Effect.exit(get(dying)), tracer)
      assert.isTrue(Exit.isFailure(exit))
      assert.notInclude(inspect(spans, { depth: 20 }), "consumers")
    }))

  it.effect("have as error.type the status when the program's client turns a response into an error", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const refusing = HttpClient.filterStatusOk((yield* transport(() => new Response(null, { status: 503 }))).client)
      yield* Effect.withTracer(Effect.exit(get(refusing)), tracer)
      assert.deepInclude(spans[0]?.attributes, { "error.type": "503", "http.response.status_code": 503 })
      assert.notInclude(inspect(spans, { depth: 20 }), "consumers")
    }))

  it.effect("record how long the call waited for tokens", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const { client } = yield* transport(rejecting("token-1"))
      const tokens = yield* supply()
      const slow = {
        ...tokens,
        get: Effect.delay(tokens.get, "47 millis"),
        replace: (token: AccessToken.AccessToken) => Effect.delay(tokens.replace(token), "13 millis")
      }
      const calling = yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a")).pipe(
        Effect.provide(over(DataAccess.layer(), slow, client)),
        Effect.withTracer(tracer),
        Effect.fork
      )
      yield* TestClock.adjust("47 millis")
      yield* TestClock.adjust("13 millis")
      yield* Fiber.join(calling)
      assert.strictEqual(spans[0]?.attributes["credit_data.token.wait_duration"], 0.06)
    }))

  it.effect("send trace headers to the third party when propagateTrace is set", () =>
    Effect.gen(function*() {
      const { sent, spans } = yield* traced({ propagateTrace: true })
      assert.include(sent[0]?.headers["traceparent"], spans[0]?.spanId)
    }))

  it.effect("have the call's span as the parent of transformClient's spans", () =>
    Effect.gen(function*() {
      const { spans } = yield* traced({ transformClient: HttpClient.transformResponse(Effect.withSpan("inside")) })
      const [call, ...inside] = spans
      assert.deepStrictEqual(inside.map(({ name, parent }) => [name, parent]), [
        ["inside", call?.spanId],
        ["inside", call?.spanId]
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
          FiberRef.get(FiberRef.currentTracerEnabled),
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

  it.effect("have the spans of a supply that replaces a rejected token", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const tokens = yield* supply()
      const traced: typeof tokens = {
        ...tokens,
        replace: (rejected) => Effect.withSpan(tokens.replace(rejected), "replace")
      }
      const { client } = yield* transport(rejecting("token-1"))
      yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a")).pipe(
        Effect.provide(over(DataAccess.layer(), traced, client)),
        Effect.withTracer(tracer)
      )
      assert.deepStrictEqual(spans.map(({ name }) => name), ["GET", "replace"])
    }))

  it.effect("can be switched off by the caller", () =>
    Effect.gen(function*() {
      const { sent, spans } = yield* traced({ propagateTrace: true }, HttpClient.withTracerDisabledWhen(() => true))
      assert.strictEqual(spans.length, 0)
      assert.notProperty(sent[0]?.headers, "traceparent")
    }))
})
