import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Receiver from "../src/receiver.ts"
import { startService } from "../src/service.ts"

const Environment = Layer.merge(Simulator.layer(), NodeHttpClient.layer)

describe("the example service", () => {
  it.scopedLive(
    "exports traces, metrics and logs without ids of consumers, and ends on request",
    () =>
      Effect.gen(function*() {
        const receiver = yield* Receiver.make
        const service = yield* startService({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
        assert.strictEqual((yield* service.get("/consumers/c4711")).status, 200)
        const metrics = yield* service.get("/metrics")
        assert.include(metrics.headers["content-type"], "text/plain; version=0.0.4")
        assert.include(metrics.text, "credit_data_token_requests_total{")
        const [, { exitCode, stderr }] = yield* service.stop
        assert.strictEqual(Number(exitCode), 0, stderr)
        assert.deepStrictEqual(receiver.refused, [])
        const spans = Receiver.having(receiver.exports.map(({ message }) => message), "traceId").filter((span) =>
          "name" in span
        )
        const server = spans.find(({ name }) => name === "GET /consumers/{id}")
        const client = spans.find(({ name }) => name === "GET /data-access/consumers/{id}")
        assert.strictEqual(client?.["parentSpanId"], server?.["spanId"])
        assert.deepStrictEqual(
          new Set(receiver.exports.map(({ path }) => path)),
          new Set(["/v1/traces", "/v1/metrics", "/v1/logs"])
        )
        for (const { bytes } of receiver.exports) assert.isFalse(bytes.includes("c4711"))
      }).pipe(Effect.provide(Environment)),
    60_000
  )
})
