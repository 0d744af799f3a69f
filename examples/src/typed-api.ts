// A typed business API. Its declaration does not mention authentication. The endpoints are invented, because the business
// endpoints of the service are not documented: use the paths and schemas from your own contract.

import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { HttpApi, HttpApiClient, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Schema } from "effect"

class NoSuchConsumer extends Schema.TaggedError<NoSuchConsumer>()("NoSuchConsumer", { id: Schema.String }) {}

const InventedApi = HttpApi.make("invented").add(
  HttpApiGroup.make("consumers").add(
    HttpApiEndpoint.get("read", "/data-access/consumers/:id")
      .setPath(Schema.Struct({ id: Schema.String }))
      .addSuccess(Schema.Struct({ group: Schema.String, path: Schema.String }))
      .addError(NoSuchConsumer, { status: 404 })
  )
)

const program = Effect.gen(function*() {
  const api = yield* HttpApiClient.makeWith(InventedApi, { httpClient: yield* DataAccess.DataAccess })
  const consumer = yield* api.consumers.read({ path: { id: "42" } })
  yield* Console.log(`${consumer.group} responded for ${consumer.path}`)
}).pipe(Effect.catchTag("NoSuchConsumer", ({ id }) => Console.log(`There is no consumer ${id}.`)))

// with keep-alive connections
const Http = NodeHttpClient.layerWithoutAgent.pipe(
  Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: true, timeout: 4_000 }))
)
const Clients = DataAccess.layer().pipe(Layer.provide(AuthV2.layerConfig()), Layer.provide(Http))

program.pipe(
  Effect.provide(Clients.pipe(Layer.provide(Simulator.layerConfigProvider), Layer.provide(Simulator.layer()))),
  NodeRuntime.runMain
)
