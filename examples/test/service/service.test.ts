import { Fault, Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { startService } from "./start.ts"

/** Each test has its own simulator of the API. */
const Test = Layer.fresh(Layer.merge(Simulator.layer(), NodeHttpClient.layer))

it.live(
  "the service responds for a consumer, has metrics and checks, and logs failures as JSON without ids",
  () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const service = yield* startService(yield* Simulator.variables)
      const consumer = yield* service.get("/consumers/c4711")
      assert.deepStrictEqual(JSON.parse(consumer.text), { id: "c4711", path: "/data-access/consumers/c4711" })
      assert.strictEqual((yield* service.get("/health/live")).status, 200)
      assert.strictEqual((yield* service.get("/health/ready")).status, 200)
      assert.include((yield* service.get("/metrics")).text, "credit_data_token_requests_total{")

      yield* simulator.failCalls(Fault.Response({ status: 404 }))
      assert.strictEqual((yield* service.get("/consumers/c4711")).status, 404)
      yield* simulator.failCalls(Fault.Response({ status: 502 }))
      assert.strictEqual((yield* service.get("/consumers/c4711")).status, 503)
      assert.strictEqual(yield* simulator.tokenRequests, 1)

      const output = yield* service.stop
      const messages = output.trim().split("\n").map((line): unknown => JSON.parse(line).message)
      assert.include(messages, "A call of Data Access failed: status 502")
      assert.notInclude(output, "c4711") // the id of a consumer is personal data
    }).pipe(Effect.scoped, Effect.provide(Test)),
  120_000
)

// Windows has no SIGTERM
it.live.skipIf(process.platform === "win32")(
  "after SIGTERM, the service responds to the request that it has",
  () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failCalls(Fault.Delay({ duration: "1 hour" }))
      const service = yield* startService(yield* Simulator.variables)
      const request = yield* Effect.fork(service.get("/consumers/42"))
      yield* simulator.awaitReceived("Api", 1)
      const stopping = yield* Effect.fork(service.stop)
      yield* service.closed
      yield* simulator.advanceClock("1 hour")
      assert.strictEqual((yield* Fiber.join(request)).status, 200)
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped, Effect.provide(Test)),
  120_000
)
