import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"

const program = Effect.gen(function*() {
  const dataAccess = yield* DataAccess.DataAccess // an HttpClient for one endpoint group
  const response = yield* dataAccess.get("/data-access/consumers/42")
  yield* Console.log(response.status, yield* response.json)
})

const Auth = AuthV2.layerConfig() // for V1, retired at the end of 2024: AuthV1.layerConfig()
const Clients = DataAccess.layer().pipe(Layer.provide(Auth), Layer.provide(NodeHttpClient.layer))

program.pipe(Effect.provide(Clients), NodeRuntime.runMain)
