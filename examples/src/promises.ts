// Calls from code that is not written in Effect. One runtime runs the whole program and returns promises. At the end,
// `dispose` releases everything. The runtime contains the supply: a new runtime for each call would send a token request for
// each call.

import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, ManagedRuntime } from "effect"

const runtime = ManagedRuntime.make(
  DataAccess.layer().pipe(
    Layer.provide(AuthV2.layerConfig()),
    Layer.provide([NodeHttpClient.layer, Simulator.layerConfigProvider]),
    Layer.provideMerge(Simulator.layer())
  )
)

const readConsumer = (id: string): Promise<unknown> =>
  runtime.runPromise(
    Effect.flatMap(DataAccess.DataAccess, (client) => client.get(`/data-access/consumers/${id}`)).pipe(
      Effect.flatMap((response) => response.json)
    )
  )

const countTokenRequests = () =>
  runtime.runPromise(Effect.flatMap(Simulator.Simulator, (simulator) => simulator.tokenRequests))

try {
  console.log(await Promise.all(["41", "42", "43"].map(readConsumer)))
  console.log(`token requests: ${await countTokenRequests()}`)
} finally {
  await runtime.dispose()
}
