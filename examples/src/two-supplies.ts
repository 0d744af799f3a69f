// Data Access over V1 and Furnishment over V2 in one program. The layer of each group is provided with its own supply.

import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { AccessScope } from "@credit-data/core"
import { DataAccess, Furnishment } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Layer } from "effect"

const program = Effect.gen(function*() {
  const dataAccess = yield* DataAccess.DataAccess
  const furnishment = yield* Furnishment.Furnishment
  const consumer = yield* dataAccess.get("/data-access/consumers/42")
  const submission = yield* furnishment.get("/furnishment/submissions/7")
  yield* Console.log(`Data Access over V1: ${consumer.status}`)
  yield* Console.log(`Furnishment over V2: ${submission.status}`)
})

const furnishmentAlone = Config.succeed<typeof AccessScope.all>(["furnishment:all"])

const Clients = Layer.merge(
  DataAccess.layer().pipe(Layer.provide(AuthV1.layerConfig())),
  Furnishment.layer().pipe(Layer.provide(AuthV2.layerConfig({ scopes: furnishmentAlone })))
).pipe(Layer.provide(NodeHttpClient.layer))

program.pipe(
  Effect.provide(Clients.pipe(Layer.provide(Simulator.layerConfigProvider), Layer.provide(Simulator.layer()))),
  NodeRuntime.runMain
)
