import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"

const Test = DataAccess.layer().pipe(
  Layer.provideMerge(AuthV2.layerConfig()),
  Layer.provide(NodeHttpClient.layer),
  Layer.provide(Simulator.layerConfigProvider),
  Layer.provideMerge(Simulator.layer())
)

const consumer = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42"))

it.effect("a call waits for a token endpoint that takes 9 seconds", () =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.failTokenRequests(Fault.Delay({ duration: "9 seconds" }))

    const call = yield* Effect.fork(consumer)
    yield* simulator.awaitReceived("AuthV2", 1)
    yield* TestClock.adjust("9 seconds")

    assert.strictEqual((yield* Fiber.join(call)).status, 200)
    assert.strictEqual(yield* simulator.tokenRequests, 1)
  }).pipe(Effect.provide(Test)))

it.effect("a call without a response ends at the program's time-out", () =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.failCalls(Fault.Silence())

    const call = yield* Effect.fork(Effect.timeoutOption(consumer, "5 seconds"))
    yield* simulator.awaitReceived("Api", 1)
    yield* TestClock.adjust("5 seconds")

    assert.strictEqual((yield* Fiber.join(call))._tag, "None")
  }).pipe(Effect.provide(Test)))

it.effect("a call is sent again with a new token after its token was revoked", () =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const tokens = yield* AccessTokens.AccessTokens
    yield* simulator.revokeToken(yield* tokens.get)

    assert.strictEqual((yield* consumer).status, 200)
    assert.strictEqual(yield* simulator.tokenRequests, 2)
  }).pipe(Effect.provide(Test)))

it.effect("a call fails before it is sent when its scope is no longer granted", () =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.grantScopes(["furnishment:all"])

    const error = yield* Effect.flip(consumer)
    assert.strictEqual(error._tag, "InsufficientScope")
    assert.deepStrictEqual((yield* simulator.received).map(({ server }) => server), ["AuthV2"])
  }).pipe(Effect.provide(Test)))
