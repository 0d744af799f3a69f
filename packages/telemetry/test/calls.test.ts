import { AccessTokens } from "@credit-data/core"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { Prometheus, Telemetry } from "@credit-data/telemetry"
import { HttpError } from "@credit-data/core/Internal"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Queue } from "effect"

let runs = 0

/** How many calls were recorded with these attributes of a supply, by the values of these labels. */
const counts = (test: string, ...labels: ReadonlyArray<string>) =>
  Effect.map(Prometheus.text, (text) => {
    const lines = text.matchAll(
      new RegExp(`^http_client_request_duration_seconds_count\\{(.*test="${test}".*)\\} (\\d+)$`, "gm")
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

const responding = (status: number) =>
  HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status }))))

/** How many calls have not ended, with these attributes of a supply. */
const active = (test: string) =>
  Effect.map(Prometheus.text, (text) =>
    Array.from(
      text.matchAll(new RegExp(`^http_client_active_requests\\{.*test="${test}".*\\} (\\d+)$`, "gm")),
      ([, count]) => Number(count)
    ))

describe("the number of calls that have not ended", () => {
  it.scoped("returns to 0 after responses, failures and interruptions, and adds up supplies with the same attributes", () =>
    Effect.gen(function*() {
      const test = `active ${++runs}`
      const responds = yield* Deferred.make<void>()
      const begun = yield* Queue.unbounded<void>()
      const waiting = HttpClient.make((request) =>
        Queue.offer(begun, undefined).pipe(
          Effect.zipRight(Deferred.await(responds)),
          Effect.zipRight(
            request.method === "POST"
              ? Effect.fail(HttpError.requestError("Transport", { request, cause: new Error() }))
              : Effect.succeed(HttpClientResponse.fromWeb(request, new Response()))
          )
        )
      )
      const client = Context.get(yield* clientOver(waiting, { test }), DataAccess.DataAccess)
      const another = Context.get(yield* clientOver(waiting, { test }), DataAccess.DataAccess)
      const calls = yield* Effect.forEach(
        [client.get("/a"), client.post("/a"), another.get("/a"), client.get("/b")],
        (call) => Effect.fork(Effect.exit(call))
      )
      yield* Effect.forEach(calls, () => Queue.take(begun))
      assert.deepStrictEqual(yield* active(test), [4])
      yield* Effect.forEach(calls.slice(3), Fiber.interrupt)
      assert.deepStrictEqual(yield* active(test), [3])
      yield* Deferred.succeed(responds, undefined)
      yield* Effect.forEach(calls, Fiber.await)
      assert.deepStrictEqual(yield* active(test), [0])
      const types = Array.from((yield* Prometheus.text).matchAll(/^# TYPE http_client_active_requests (\w+)$/gm))
      assert.deepStrictEqual(types.map(([, type]) => type), ["gauge"])
    }))
})

describe("the duration of calls", () => {
  it.scoped("is recorded by group, method, template, status and type of error, and without a path", () =>
    Effect.gen(function*() {
      const test = `calls ${++runs}`
      let respond = responding(200)
      const context = yield* clientOver(HttpClient.make((request) => respond.execute(request)), { test })
      const client = Context.get(context, DataAccess.DataAccess)
      const consumer = client.get("/data-access/consumers/42").pipe(
        GroupClient.withPathTemplate("/data-access/consumers/{id}")
      )
      yield* consumer
      yield* consumer
      respond = responding(503)
      yield* client.post("/data-access/consumers")
      respond = HttpClient.make((request) =>
        Effect.fail(
          HttpError.requestError("Transport", { request, cause: Object.assign(new Error(), { code: "ECONNRESET" }) })
        )
      )
      yield* Effect.exit(client.post("/data-access/consumers"))
      respond = HttpClient.make((request) =>
        Effect.fail(
          HttpError.requestError("Transport", { request, cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) })
        )
      )
      yield* Effect.exit(client.post("/data-access/consumers"))
      const labels = [
        "credit_data_group",
        "http_request_method",
        "url_template",
        "http_response_status_code",
        "error_type",
        "server_address"
      ]
      assert.deepStrictEqual(yield* counts(test, ...labels), {
        "Data Access GET /data-access/consumers/{id} 200 localhost": 2,
        "Data Access POST 503 503 localhost": 1,
        "Data Access POST Reset localhost": 1,
        "Data Access POST Refused localhost": 1
      })
      assert.notInclude(yield* Prometheus.text, "consumers/42")
    }))

  it.scoped("is in seconds, by the clock of the layer that cannot be set", () =>
    Effect.gen(function*() {
      const test = `seconds ${++runs}`
      const time = VirtualClock.make()
      let ahead = 0
      const responds = yield* Deferred.make<void>()
      const waiting = HttpClient.make((request) =>
        Effect.as(Deferred.await(responds), HttpClientResponse.fromWeb(request, new Response()))
      )
      const context = yield* clientOver(waiting, { test }).pipe(Effect.withClock(time.clockOf(() => ahead)))
      const call = yield* Effect.fork(Context.get(context, DataAccess.DataAccess).get("/data-access/consumers/42"))
      yield* time.pass(1_500)
      ahead = -3_600_000
      yield* Deferred.succeed(responds, undefined)
      yield* Fiber.join(call)
      const sum = new RegExp(`^http_client_request_duration_seconds_sum\\{.*test="${test}".*\\} (.*)$`, "m")
      assert.strictEqual(Number(sum.exec(yield* Prometheus.text)?.[1]), 1.5)
    }))

  it.scoped("is recorded for a call that is interrupted, with or without a span", () =>
    Effect.gen(function*() {
      const test = `interrupted ${++runs}`
      const begun = yield* Queue.unbounded<void>()
      const silent = HttpClient.make(() => Effect.zipRight(Queue.offer(begun, undefined), Effect.never))
      const client = Context.get(yield* clientOver(silent, { test }), DataAccess.DataAccess)
      for (const caller of [client, client.pipe(HttpClient.withTracerDisabledWhen(() => true))]) {
        const call = yield* Effect.fork(caller.get("/data-access/consumers/42"))
        yield* Queue.take(begun)
        yield* Fiber.interrupt(call)
      }
      assert.deepStrictEqual(yield* counts(test, "error_type"), { Interrupted: 2 })
    }))

  it.scoped("belongs to the supply of the client, where one program has several", () =>
    Effect.gen(function*() {
      const test = `tenants ${++runs}`
      const first = yield* clientOver(responding(200), { test, tenant: "a" })
      const second = yield* clientOver(responding(200), { test, tenant: "b" })
      const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42"))
      // the program has the context of both, as where two layers are merged
      yield* Effect.provide(call, Context.merge(second, first))
      yield* Effect.provide(
        Effect.zipRight(call, call),
        Context.merge(first, Context.pick(DataAccess.DataAccess)(second))
      )
      assert.deepStrictEqual(yield* counts(test, "tenant"), { a: 1, b: 2 })
    }))
})
