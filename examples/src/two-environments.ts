// Sandbox and production in one program. The supply provides the base URL, so a sandbox token is not sent to a production
// host. The service of a group has one Tag, so each environment is provided to its own part of the program.

import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"

const readConsumer = Effect.gen(function*() {
  const dataAccess = yield* DataAccess.DataAccess
  const response = yield* dataAccess.get("/data-access/consumers/42")
  return { status: response.status, origin: new URL(response.request.url).origin }
})

/** The client of one environment. Each environment is a separate simulator. */
const environment = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const auth = AuthV2.layer({
    environment: simulator.environment,
    credentials: simulator.credentials,
    scopes: ["data-access:all"]
  })
  return DataAccess.layer().pipe(Layer.provide(auth), Layer.provide(NodeHttpClient.layer))
}).pipe(Layer.unwrapEffect, (client) => client.pipe(Layer.provide(Layer.fresh(Simulator.layer()))))

const Sandbox = Layer.fresh(environment)
const Production = Layer.fresh(environment)

Effect.gen(function*() {
  const sandbox = yield* Effect.provide(readConsumer, Sandbox)
  const production = yield* Effect.provide(readConsumer, Production)
  yield* Console.log(`sandbox ${sandbox.status}, production ${production.status}`)
  yield* Console.log(`the same host: ${sandbox.origin === production.origin}`)
}).pipe(NodeRuntime.runMain)
