import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { Telemetry } from "@credit-data/telemetry"
import { NodeSdk, Otlp } from "@effect/opentelemetry"
import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader
} from "@opentelemetry/sdk-metrics"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Effect, Layer, Predicate, Redacted } from "effect"
import { inspect } from "node:util"
import * as Receiver from "../src/receiver.ts"

const consumer = "4711-0815"
const secret = "canary-of-the-client-secret"
const credentials = { clientId: "canary-of-the-client-id", clientSecret: Redacted.make(secret) }

// metrics belong to the process, so each test has its own series
const clients = (name: string) =>
  DataAccess.layer().pipe(
    Layer.merge(Telemetry.layer({ attributes: { client: name } })),
    Layer.provideMerge(AuthV2.layerConfig()),
    Layer.provide([NodeHttpClient.layer, Simulator.layerConfigProvider])
  )

/** A refused token request, a successful one, and calls: with a template, without one, and after a rejected token. */
const program = (name: string) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"))
    return yield* Effect.gen(function*() {
      const client = yield* DataAccess.DataAccess
      const tokens = yield* AccessTokens.AccessTokens
      const call = client.get(`/data-access/consumers/${consumer}`)
      yield* Effect.flip(call)
      yield* tokens.refresh
      yield* GroupClient.withPathTemplate("/data-access/consumers/{id}")(call)
      yield* simulator.failCalls(Fault.Response({ status: 401 }))
      yield* call
      yield* simulator.failCalls(Fault.Reset(), { times: 4 })
      yield* Effect.flip(call)
      yield* simulator.failCalls(Fault.Response({ status: 500 }))
      yield* Effect.flip(HttpClient.filterStatusOk(client).get(`/data-access/consumers/${consumer}`))
      return Redacted.value((yield* tokens.get).secret)
    }).pipe(Effect.provide(clients(name)))
  })

const names = (value: unknown) => Receiver.having(value, "name").map(({ name }) => name)

/** The only property of an AnyValue of OTLP, such as `{ stringValue: "a" }`. */
const valueOf = (any: unknown): unknown => Predicate.isReadonlyRecord(any) ? Object.values(any)[0] : undefined

/** The value of an attribute in OTLP. */
const attribute = (holder: unknown, key: string) => {
  const found = Receiver.having(holder, "key").find((each) => each["key"] === key)?.["value"]
  return valueOf(found)
}

describe("a receiver of OTLP", () => {
  for (const [format, layer] of [["JSON", Otlp.layerJson], ["protobuf", Otlp.layerProtobuf]] as const) {
    it.scopedLive(
      `gets traces, metrics and logs as ${format}, and no secret, token or id of a consumer`,
      () =>
        Effect.gen(function*() {
          const receiver = yield* Receiver.make
          const Export = layer({ baseUrl: receiver.url, resource: { serviceName: "a-service" } }).pipe(
            Layer.provide(NodeHttpClient.layerUndici)
          )
          const token = yield* Effect.provide(
            program(format),
            Layer.provideMerge(Simulator.layer({ credentials }), Export)
          )
          assert.deepStrictEqual(receiver.refused, [])
          const of = (path: string) =>
            receiver.exports.filter((each) => each.path === path).map(({ message }) => message)

          const spans = Receiver.having(of("/v1/traces"), "spanId").filter((span) => "name" in span)
          const spanNames = spans.map(({ name }) => name)
          for (
            const name of [
              "TokenEndpoint.requestToken",
              "GET",
              "GET /data-access/consumers/{id}"
            ]
          ) {
            assert.include(spanNames, name)
          }
          const request = spans.find((span) =>
            attribute(span, "error.type") === "InvalidClient" && span["name"] === "TokenEndpoint.requestToken"
          )
          assert.strictEqual(String(attribute(request, "http.response.status_code")), "401")
          // docs/telemetry.md describes this defect of the exporter; remove the sentence when this fails
          assert.strictEqual(attribute(request, "span.label"), "⚠︎ Interrupted")
          for (
            const name of [
              "credit_data.token.requests",
              "credit_data.token.request.duration",
              "credit_data.token.expiry_timestamp",
              "credit_data.token.failing",
              "credit_data.token.usable",
              "credit_data.token.invalidations",
              "credit_data.token.callers_waiting",
              "credit_data.token.served"
            ]
          ) assert.include(names(of("/v1/metrics")), name)
          const metric = (name: string) =>
            Receiver.having(of("/v1/metrics").at(-1), "name").find((each) => each["name"] === name)
          assert.strictEqual(metric("credit_data.token.expiry_timestamp")?.["unit"], "s")
          const served = Receiver.having(metric("credit_data.token.served"), "asDouble").find((point) =>
            attribute(point, "client") === format
          )
          assert.isAbove(Number(served?.["asDouble"]), 2, "the last reading is made before the last export")

          const bodies = Receiver.having(of("/v1/logs"), "body").map(({ body }) => valueOf(body))
          assert.isTrue(bodies.some((body) => String(body).includes("There is no valid access token")))
          assert.isTrue(bodies.some((body) => String(body).includes("An access token was obtained")))

          for (const canary of [secret, token, consumer]) {
            for (const { bytes, message } of receiver.exports) {
              assert.isFalse(bytes.includes(canary))
              assert.notInclude(JSON.stringify(message), canary)
            }
          }
        }),
      30_000
    )
  }
})

describe("the SDK of OpenTelemetry", () => {
  it.scopedLive(
    "gets the same spans and metrics, and no secret, token or id of a consumer",
    () =>
      Effect.gen(function*() {
        const spans = new InMemorySpanExporter()
        const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
        const reader = new PeriodicExportingMetricReader({ exporter: metrics })
        const Sdk = NodeSdk.layer(() => ({
          resource: { serviceName: "a-service" },
          spanProcessor: new SimpleSpanProcessor(spans),
          metricReader: reader
        }))
        let finished = ""
        yield* Effect.gen(function*() {
          const token = yield* program("SDK")
          yield* Effect.promise(() => reader.forceFlush())
          const found = spans.getFinishedSpans()
          const request = found.find(({ name }) => name === "TokenEndpoint.requestToken")
          assert.deepInclude(request?.attributes, { "error.type": "InvalidClient", "http.response.status_code": 401 })
          const points = metrics.getMetrics().flatMap(({ scopeMetrics }) =>
            scopeMetrics.flatMap(({ metrics }) => metrics)
          )
          assert.include(points.map(({ descriptor }) => descriptor.name), "credit_data.token.requests")
          finished = inspect([
            found.map(({ attributes, events, links, name, status }) => ({ attributes, events, links, name, status })),
            points
          ], { depth: 20 })
          for (const canary of [secret, token, consumer]) assert.notInclude(finished, canary)
        }).pipe(Effect.provide(Layer.provideMerge(Simulator.layer({ credentials }), Sdk)))
      }),
    30_000
  )
})
