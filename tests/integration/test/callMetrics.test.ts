import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { Prometheus, Telemetry } from "@credit-data/telemetry"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Queue } from "effect"

const attributes = { test: "callMetrics" }

/** The counts of calls, by their attributes. */
const counts = Effect.map(Prometheus.text, (text) =>
  Object.fromEntries(
    [...text.matchAll(/^http_client_request_duration_seconds_count\{(.*test="callMetrics".*)\} (\d+)$/gm)]
      .map(([, labels = "", count]) => {
        const value = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1]
        const names = [
          "credit_data_group",
          "http_request_method",
          "url_template",
          "http_response_status_code",
          "error_type"
        ]
        return [names.flatMap((name) => value(name) ?? []).join(" "), Number(count)]
      })
  ))

const Live = DataAccess.layer().pipe(
  Layer.provideMerge(Telemetry.layer({ attributes })),
  Layer.provide(AuthV2.layerConfig()),
  Layer.provide([NodeHttpClient.layer, Simulator.layerConfigProvider]),
  Layer.provideMerge(Simulator.layer())
)

describe("the duration of calls", () => {
  it.scopedLive("is recorded by group, method, template and status, without a path, and without a setup of the clients", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const client = yield* DataAccess.DataAccess
      const consumer = client.get("/data-access/consumers/42").pipe(
        GroupClient.withPathTemplate("/data-access/consumers/{id}")
      )
      yield* consumer
      yield* consumer
      yield* simulator.failCalls(Fault.Response({ status: 503 }))
      yield* client.post("/data-access/consumers")
      yield* simulator.failCalls(Fault.Reset())
      yield* Effect.exit(client.post("/data-access/consumers"))
      assert.deepStrictEqual(yield* counts, {
        "Data Access GET /data-access/consumers/{id} 200": 2,
        "Data Access POST 503 503": 1,
        "Data Access POST Reset": 1
      })
      const text = yield* Prometheus.text
      assert.notInclude(text, "consumers/42")
      assert.match(text, /^http_client_request_duration_seconds_sum\{.*server_address="127\.0\.0\.1".*\} [\d.]+$/m)
    }).pipe(Effect.provide(Live)))

  it.scoped("is not recorded for a call that is interrupted, with or without a span", () =>
    Effect.gen(function*() {
      const begun = yield* Queue.unbounded<void>()
      const Api = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make(() => Effect.zipRight(Queue.offer(begun, undefined), Effect.never))
      )
      const context = yield* Layer.build(
        DataAccess.layer().pipe(
          Layer.provideMerge(Telemetry.layer({ attributes: { test: "callMetrics", state: "interrupted" } })),
          Layer.provide([AccessTokens.layerTest(), Api])
        )
      )
      const client = Context.get(context, DataAccess.DataAccess)
      for (const caller of [client, client.pipe(HttpClient.withTracerDisabledWhen(() => true))]) {
        const call = yield* Effect.fork(caller.get("/data-access/consumers/42"))
        yield* Queue.take(begun)
        yield* Fiber.interrupt(call)
      }
      assert.notMatch(yield* Prometheus.text, /http_client_request_duration_seconds_count.*interrupted/)
    }))

  it.scoped("belongs to the supply of the client, where one program has several", () =>
    Effect.gen(function*() {
      const Api = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, new Response())))
      )
      const tenant = (name: string) =>
        Layer.build(
          DataAccess.layer().pipe(
            Layer.provideMerge(Telemetry.layer({ attributes: { test: "tenants", tenant: name } })),
            Layer.provide([AccessTokens.layerTest(), Api])
          )
        )
      const first = yield* tenant("a")
      const second = yield* tenant("b")
      const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42"))
      // the program has the context of both, as where two layers are merged
      yield* Effect.provide(call, Context.merge(second, first))
      yield* Effect.provide(
        Effect.zipRight(call, call),
        Context.merge(first, Context.pick(DataAccess.DataAccess)(second))
      )
      const tenants = Object.fromEntries(
        [...(yield* Prometheus.text).matchAll(
          /^http_client_request_duration_seconds_count\{.*\btenant="(\w)".*\} (\d+)$/gm
        )].map(([, name, count]) => [name, Number(count)])
      )
      assert.deepStrictEqual(tenants, { a: 1, b: 2 })
    }))
})
