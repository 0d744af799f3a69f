import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"

const Test = DataAccess.layer().pipe(
  Layer.provide(AuthV2.layerConfig()),
  Layer.provide(NodeHttpClient.layer),
  Layer.provide(Simulator.layerConfigProvider),
  Layer.provideMerge(Simulator.layer())
)

it.effect("a call succeeds after its token was revoked", () =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const dataAccess = yield* DataAccess.DataAccess
    const call = dataAccess.get("/data-access/consumers/42")
    assert.strictEqual((yield* call).status, 200)

    yield* simulator.revokeTokens
    assert.strictEqual((yield* call).status, 200)
    assert.strictEqual(yield* simulator.tokenRequests, 2)
  }).pipe(Effect.provide(Test)))

it.effect("a call fails with InvalidClient when the token endpoint refuses the client", () =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const dataAccess = yield* DataAccess.DataAccess
    yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"))
    const error = yield* Effect.flip(dataAccess.get("/data-access/consumers/42"))
    assert.strictEqual(error._tag, "InvalidClient")
  }).pipe(Effect.provide(Test)))

it.effect("a call fails with ServerError after two retries when the token endpoint is down", () =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const dataAccess = yield* DataAccess.DataAccess
    yield* simulator.failTokenRequests(Fault.Response({ status: 503 }), { times: 3 })
    const call = yield* Effect.fork(Effect.flip(dataAccess.get("/data-access/consumers/42")))
    for (let request = 1; request <= 3; request++) {
      yield* simulator.awaitReceived("AuthV2", request)
      yield* TestClock.adjust("2 seconds")
    }
    assert.strictEqual((yield* Fiber.join(call))._tag, "ServerError")
  }).pipe(Effect.provide(Test)))
