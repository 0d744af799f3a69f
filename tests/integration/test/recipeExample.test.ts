import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

/** The program under test. */
const findConsumer = (id: string) =>
  Effect.flatMap(DataAccess.DataAccess, GroupClient.call("GET", "/data-access/consumers/{id}", { id })).pipe(
    Effect.map(({ status }) => status === 200 ? "found" : status === 404 ? "unknown" : "unavailable"),
    Effect.catchTag("InvalidClient", () => Effect.succeed("refused"))
  )

const Test = DataAccess.layer().pipe(
  Layer.provide(AuthV2.layerConfig()),
  Layer.provide(NodeHttpClient.layer),
  Layer.provide(Simulator.layerConfigProvider),
  Layer.provideMerge(Simulator.layer())
)

it.effect("finds a consumer, and reports an unknown consumer and a failing API", () =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    assert.strictEqual(yield* findConsumer("42"), "found")
    yield* simulator.failCalls(Fault.Response({ status: 404 }))
    assert.strictEqual(yield* findConsumer("43"), "unknown")
    yield* simulator.failCalls(Fault.Response({ status: 503 }))
    assert.strictEqual(yield* findConsumer("42"), "unavailable")
  }).pipe(Effect.provide(Test)))

it.effect("reports that the token endpoint refuses the client", () =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"))
    assert.strictEqual(yield* findConsumer("42"), "refused")
  }).pipe(Effect.provide(Test)))
