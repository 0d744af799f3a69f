import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { Prometheus, Telemetry } from "@credit-data/telemetry"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Queue } from "effect"

/** How many calls were recorded with this attribute of a supply, by the values of these labels. */
const counts = (attribute: string, ...labels: ReadonlyArray<string>) =>
  Effect.map(Prometheus.text, (text) => {
    const lines = text.matchAll(
      new RegExp(`^http_client_request_duration_seconds_count\\{(.*${attribute}.*)\\} (\\d+)$`, "gm")
    )
    return Object.fromEntries(
      Array.from(lines, ([, found = "", count]) => {
        const values = labels.flatMap((name) => new RegExp(`\\b${name}="([^"]*)"`).exec(found)?.[1] ?? [])
        return [values.join(" "), Number(count)]
      })
    )
  })

/** An API in memory, and a client with its own supply and metrics. */
const clientOver = (respond: HttpClient.HttpClient, attributes: Record<string, string>) =>
  Layer.build(
    DataAccess.layer().pipe(
      Layer.provideMerge(Telemetry.layer({ attributes })),
      Layer.provide([AccessTokens.layerTest(), Layer.succeed(HttpClient.HttpClient, respond)])
    )
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
      const labels = [
        "credit_data_group",
        "http_request_method",
        "url_template",
        "http_response_status_code",
        "error_type"
      ]
      assert.deepStrictEqual(yield* counts("test=\"calls\"", ...labels), {
        "Data Access GET /data-access/consumers/{id} 200": 2,
        "Data Access POST 503 503": 1,
        "Data Access POST Reset": 1
      })
      const text = yield* Prometheus.text
      assert.notInclude(text, "consumers/42")
      assert.match(text, /^http_client_request_duration_seconds_sum\{.*server_address="127\.0\.0\.1".*\} [\d.]+$/m)
    }).pipe(Effect.provide(
      DataAccess.layer().pipe(
        Layer.provide(Telemetry.layer({ attributes: { test: "calls" } })),
        Layer.provideMerge(AuthV2.layerConfig()),
        Layer.provide([NodeHttpClient.layer, Simulator.layerConfigProvider]),
        Layer.provideMerge(Simulator.layer())
      )
    )))

  it.scoped("is in seconds, by the clock of the layer that cannot be set", () =>
    Effect.gen(function*() {
      const time = VirtualClock.make()
      let ahead = 0
      const responds = yield* Deferred.make<void>()
      const waiting = HttpClient.make((request) =>
        Effect.as(Deferred.await(responds), HttpClientResponse.fromWeb(request, new Response()))
      )
      const context = yield* clientOver(waiting, { test: "seconds" }).pipe(Effect.withClock(time.clockOf(() => ahead)))
      const call = yield* Effect.fork(Context.get(context, DataAccess.DataAccess).get("/data-access/consumers/42"))
      yield* time.pass(1_500)
      ahead = -3_600_000
      yield* Deferred.succeed(responds, undefined)
      yield* Fiber.join(call)
      const [, sum] =
        /^http_client_request_duration_seconds_sum\{.*test="seconds".*\} (.*)$/m.exec(yield* Prometheus.text) ??
          []
      assert.strictEqual(Number(sum), 1.5)
    }))

  it.scoped("is recorded for a call that is interrupted, with or without a span", () =>
    Effect.gen(function*() {
      const begun = yield* Queue.unbounded<void>()
      const silent = HttpClient.make(() => Effect.zipRight(Queue.offer(begun, undefined), Effect.never))
      const client = Context.get(yield* clientOver(silent, { test: "interrupted" }), DataAccess.DataAccess)
      for (const caller of [client, client.pipe(HttpClient.withTracerDisabledWhen(() => true))]) {
        const call = yield* Effect.fork(caller.get("/data-access/consumers/42"))
        yield* Queue.take(begun)
        yield* Fiber.interrupt(call)
      }
      assert.deepStrictEqual(yield* counts("test=\"interrupted\"", "error_type"), { Interrupted: 2 })
    }))

  it.scoped("belongs to the supply of the client, where one program has several", () =>
    Effect.gen(function*() {
      const responding = HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, new Response()))
      )
      const first = yield* clientOver(responding, { test: "tenants", tenant: "a" })
      const second = yield* clientOver(responding, { test: "tenants", tenant: "b" })
      const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42"))
      // the program has the context of both, as where two layers are merged
      yield* Effect.provide(call, Context.merge(second, first))
      yield* Effect.provide(
        Effect.zipRight(call, call),
        Context.merge(first, Context.pick(DataAccess.DataAccess)(second))
      )
      assert.deepStrictEqual(yield* counts("test=\"tenants\"", "tenant"), { a: 1, b: 2 })
    }))
})
