import { EnablementServices, Furnishment, type GroupClient } from "@credit-data/http-client"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { call } from "./support/calls.ts"
import { over, rejecting, supply, transport } from "./support/fakes.ts"

describe("the span of a call", () => {
  it.effect("has the name of the endpoint group, and the kind client", () =>
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
      assert.deepStrictEqual(spans.map(({ name }) => name), ["Furnishment GET", "Enablement Services GET"])
      assert.deepStrictEqual(kinds, ["client", "client"])
    }))
})

describe("the traces of a call", () => {
  const traced = Effect.fnUntraced(function*(
    settings: GroupClient.Settings = {},
    wrap: (client: GroupClient.GroupClient) => GroupClient.GroupClient = (client) => client
  ) {
    const { spans, tracer } = recordingTracer()
    const { sent } = yield* call((client) => wrap(client).get("/consumers/42?page=2"), {
      answer: rejecting("token-1"),
      settings
    }).pipe(Effect.withTracer(tracer))
    return { sent, spans }
  })

  it.effect("have one span, without query and token, and send nothing to the third party", () =>
    Effect.gen(function*() {
      const { sent, spans } = yield* traced()
      assert.deepStrictEqual(spans.map(({ name }) => name), ["Data Access GET"])
      assert.deepStrictEqual(spans[0]?.attributes, {
        "credit_data.group": "Data Access",
        "http.request.method": "GET",
        "server.address": "api.example",
        "url.path": "/v1/consumers/42",
        "credit_data.repeated": true,
        "http.request.resend_count": 1,
        "http.response.status_code": 200
      })
      for (const { headers } of sent) assert.notProperty(headers, "traceparent")
    }))

  it.effect("send trace headers to the third party when propagateTrace is set", () =>
    Effect.gen(function*() {
      const { sent, spans } = yield* traced({ propagateTrace: true })
      assert.include(sent[0]?.headers["traceparent"], spans[0]?.spanId)
    }))

  it.effect("have the span of the call as the parent of the spans of transformClient", () =>
    Effect.gen(function*() {
      const { spans } = yield* traced({ transformClient: HttpClient.transformResponse(Effect.withSpan("inside")) })
      const [call, ...inside] = spans
      assert.deepStrictEqual(inside.map(({ name, parent }) => [name, parent]), [
        ["inside", call?.spanId],
        ["inside", call?.spanId]
      ])
    }))

  it.effect("can be switched off by the caller", () =>
    Effect.gen(function*() {
      const { sent, spans } = yield* traced({ propagateTrace: true }, HttpClient.withTracerDisabledWhen(() => true))
      assert.strictEqual(spans.length, 0)
      assert.notProperty(sent[0]?.headers, "traceparent")
    }))
})
