// Your own retries. The client does not retry a call after a status such as 503, so this program does. After a failed token
// request, it waits until the supply may send the next one, and tries again.

import { AuthV2 } from "@credit-data/auth-v2"
import { TokenError } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { HttpClient } from "@effect/platform"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Schedule } from "effect"

const patient = Effect.map(
  DataAccess.DataAccess,
  HttpClient.retryTransient({
    schedule: Schedule.exponential("50 millis"),
    times: 3
  })
)

const program = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* simulator.failTokenRequests(Fault.Response({ status: 503, headers: { "retry-after": "1" } }))
  yield* simulator.failCalls(Fault.Response({ status: 503 }), { times: 2 })

  const client = yield* patient
  const response = yield* client.get("/data-access/consumers/42").pipe(TokenError.retryWhenDue({ times: 2 }))

  const received = yield* simulator.received
  const calls = received.filter(({ server }) => server === "Api").length
  yield* Console.log(`${response.status}, after ${yield* simulator.tokenRequests} token requests and ${calls} calls`)
})

const Clients = DataAccess.layer().pipe(Layer.provide(AuthV2.layerConfig()), Layer.provide(NodeHttpClient.layer))

program.pipe(
  Effect.provide(Clients.pipe(Layer.provide(Simulator.layerConfigProvider), Layer.provideMerge(Simulator.layer()))),
  NodeRuntime.runMain
)
