import { Fault, Simulator } from "@credit-data/simulator"
import { startService } from "@credit-data/test-support/service"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { fileURLToPath } from "node:url"

const fileOf = (name: string) => fileURLToPath(new URL(`../src/service/${name}`, import.meta.url))

const Environment = Layer.merge(Simulator.layer(), NodeHttpClient.layer)

const start = (variables: Record<string, string> = {}) =>
  Effect.flatMap(Simulator.variables, (simulated) => startService(fileOf("main.ts"), { ...simulated, ...variables }))

describe("the service", () => {
  for (const version of ["v1", "v2"] as const) {
    it.live(
      `uses Auth ${version.toUpperCase()} with CREDIT_DATA_AUTH, has metrics and checks, and ends on request`,
      () =>
        Effect.gen(function*() {
          const simulator = yield* Simulator.Simulator
          const service = yield* start({ CREDIT_DATA_AUTH: version })
          const consumer = yield* service.get("/consumers/c4711")
          assert.deepStrictEqual(JSON.parse(consumer.text), { id: "c4711", path: "/data-access/consumers/c4711" })
          const servers = (yield* simulator.received).map(({ server }) => server)
          assert.deepStrictEqual(servers, [`Auth${version.toUpperCase()}`, "Api"])
          assert.strictEqual((yield* service.get("/health/live")).status, 200)
          assert.strictEqual((yield* service.get("/health/ready")).status, 200)
          assert.include((yield* service.get("/metrics")).text, "credit_data_token_requests_total{")
          const [, { stderr, stdout }] = yield* service.stop
          // the id of a consumer is personal data
          assert.notInclude(stdout + stderr, "c4711")
        }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))),
      60_000
    )
  }

  it.live(
    "is not ready with wrong credentials, reports why, and responds with 500, because a retry does not help",
    () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const service = yield* start({ CREDIT_DATA_CLIENT_SECRET: "not the secret" })
        const ready = yield* service.get("/health/ready")
        assert.strictEqual(ready.status, 503)
        assert.include(ready.text, "\"failure\":\"InvalidClient\"")
        assert.strictEqual((yield* service.get("/consumers/42")).status, 500)
        assert.strictEqual((yield* service.get("/health/live")).status, 200)
        assert.strictEqual(yield* simulator.tokenRequests, 1)
        const [, { stderr, stdout }] = yield* service.stop
        assert.include(stdout, "ERROR")
        assert.notInclude(stdout + stderr, "not the secret")
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))),
    60_000
  )

  it.live("responds with 500 where a scope is missing, and its metrics name the scope", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.grantScopes(["furnishment:all"])
      const service = yield* start()
      assert.strictEqual((yield* service.get("/consumers/42")).status, 500)
      assert.strictEqual((yield* service.get("/health/ready")).status, 200, "for the group whose scope was granted")
      const { text } = yield* service.get("/metrics")
      assert.match(text, /^credit_data_token_usable\{.*\} 1$/m)
      assert.match(text, /^credit_data_token_scope_missing\{.*scope="data-access:all".*\} 1$/m)
      assert.match(text, /^credit_data_token_scope_missing\{.*scope="furnishment:all".*\} 0$/m)
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))), 60_000)

  it.live("responds with 503 while the token endpoint is down", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failTokenRequests(Fault.Response({ status: 503, headers: { "retry-after": "60" } }))
      const service = yield* start()
      assert.strictEqual((yield* service.get("/consumers/42")).status, 503)
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))), 60_000)

  it.live(
    "passes a 404 on, makes the other failures of the API 503 or 500, and logs no path",
    () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const service = yield* start()
        for (const [status, expected] of [[404, 404], [429, 503], [500, 503], [400, 500], [403, 500], [418, 500]]) {
          yield* simulator.failCalls(Fault.Response({ status: status ?? 0 }))
          assert.strictEqual((yield* service.get("/consumers/c4711")).status, expected, `${status}`)
        }
        yield* simulator.failCalls(Fault.Response({ status: 200, body: "no JSON" }))
        assert.strictEqual((yield* service.get("/consumers/c4711")).status, 500)
        yield* simulator.failCalls(Fault.Reset(), { times: 4 })
        assert.strictEqual((yield* service.get("/consumers/c4711")).status, 503)
        const [, { stderr, stdout }] = yield* service.stop
        assert.include(stdout, "A call of Data Access failed: status 429")
        assert.notInclude(stdout + stderr, "c4711")
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))),
    60_000
  )

  it.live("needs no variables with a simulator in its process", () =>
    Effect.gen(function*() {
      const service = yield* startService(fileOf("local.ts"), {})
      assert.strictEqual((yield* service.get("/consumers/42")).status, 200)
      const [, { stdout }] = yield* service.stop
      assert.include(stdout, "The API is simulated.")
    }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer)), 60_000)
})
