import { Fault, Simulator } from "@credit-data/simulator"
import { startService } from "@credit-data/test-support/service"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
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
