import { Fault, Simulator } from "@credit-data/simulator"
import { startService } from "@credit-data/test-support/service"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { Agent, get } from "node:http"
import { fileURLToPath } from "node:url"

const Environment = Layer.merge(Simulator.layer(), NodeHttpClient.layer)

const start = (file: string) =>
  Effect.flatMap(
    Simulator.variables,
    (variables) => startService(fileURLToPath(new URL(`../src/${file}`, import.meta.url)), variables)
  )

for (const file of ["express.ts", "fastify.ts"]) {
  describe(file, () => {
    it.live("calls with one token, maps failures to a status, and ends on request", () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const service = yield* start(file)
        assert.strictEqual((yield* service.get("/health/ready")).status, 200)
        const { status, text } = yield* service.get("/consumers/a%2Fb")
        assert.deepStrictEqual([status, JSON.parse(text).path], [200, "/data-access/consumers/a%2Fb"])
        yield* simulator.failCalls(Fault.Response({ status: 404, body: "{}" }))
        assert.strictEqual((yield* service.get("/consumers/42")).status, 404)
        yield* simulator.failCalls(Fault.Reset(), { times: 4 })
        assert.strictEqual((yield* service.get("/consumers/42")).status, 503)
        assert.strictEqual(yield* simulator.tokenRequests, 1)
        const [, { exitCode }] = yield* service.stop
        assert.strictEqual(exitCode, 0)
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))))

    it.live("ends after SIGTERM although a client sends request after request on a connection that it keeps", () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const delay = Fault.Delay({ duration: "1 hour" })
        yield* simulator.failCalls(delay, { times: 1 })
        const service = yield* start(file)
        const agent = yield* Effect.acquireRelease(
          Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
          (agent) => Effect.sync(() => agent.destroy())
        )
        const send = Effect.async<void, Error>((resume) => {
          get(`${service.url}/consumers/42`, { agent }, (response) => {
            response.resume().once("end", () => resume(Effect.void))
          }).once("error", (error) => resume(Effect.fail(error)))
        })
        // as a load balancer does, whose next request waits for the connection
        const busy = yield* Effect.fork(send)
        const sending = yield* Effect.fork(Effect.repeat(send, Schedule.forever))
        yield* simulator.awaitReceived("Api", 1)
        const stopping = yield* Effect.fork(service.stop)
        yield* Effect.sleep("300 millis") // until the process has received the signal
        yield* simulator.advanceClock("1 hour")
        yield* Fiber.join(busy)
        const ended = yield* Fiber.join(stopping).pipe(Effect.timeoutOption("10 seconds"))
        yield* Fiber.interrupt(sending)
        assert.strictEqual(ended._tag, "Some")
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))))

    it.live("is not ready after the client was refused", () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"), { times: 2 })
        const service = yield* start(file)
        assert.strictEqual((yield* service.get("/consumers/42")).status, 500)
        assert.strictEqual((yield* service.get("/health/ready")).status, 503)
        const [, { stderr, stdout }] = yield* service.stop
        assert.include(stdout + stderr, "There is no valid access token")
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))))
  })
}
