// Provide the layer once, to the whole program: its calls then share a token. A layer that is provided inside each call is
// released after the call, and the next call requests another token.

import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"

const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42"))

const Clients = DataAccess.layer().pipe(Layer.provide(AuthV2.layerConfig()), Layer.provide(NodeHttpClient.layer))

const fiveTimes = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.repeat(effect, { times: 4 })

const right = fiveTimes(call).pipe(Effect.provide(Clients))
const wrong = fiveTimes(call.pipe(Effect.provide(Clients)))

const count = <A, E, R>(name: string, program: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const before = yield* simulator.tokenRequests
    yield* program
    yield* Console.log(`5 calls, ${name}: token requests: ${(yield* simulator.tokenRequests) - before}`)
  })

Effect.zipRight(count("provided once", right), count("provided inside each call", wrong)).pipe(
  Effect.provide(Simulator.layerConfigProvider.pipe(Layer.provideMerge(Simulator.layer()))),
  NodeRuntime.runMain
)
