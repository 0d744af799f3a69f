// Handles the failures of a call by their tags. The messages are written for the person on call.

import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"

const call = Effect.gen(function*() {
  const dataAccess = yield* DataAccess.DataAccess
  const response = yield* dataAccess.get("/data-access/consumers/42")
  return `returned ${response.status}`
}).pipe(
  Effect.catchTags({
    // failures of the token request
    InvalidClient: (error) => Effect.succeed(`page the owner of the credentials: ${error.message}`),
    ServerError: (error) => Effect.succeed(`${error.retryable ? "wait" : "check the request"}: ${error.message}`),
    InvalidResponse: (error) => Effect.succeed(`check what is responding: ${error.message}`),
    TransportError: (error) => Effect.succeed(`check the network: ${error.message}`),
    // failures of the call
    InsufficientScope: (error) => Effect.succeed(`request the scope: ${error.message}`),
    RequestError: (error) => Effect.succeed(`no response to the call: ${error.message}`),
    ResponseError: (error) => Effect.succeed(`the response could not be read: ${error.message}`)
  })
)

/** Each round builds a new supply, because a supply remembers a failure until the pause ends. */
const round = (steer: Effect.Effect<void, never, Simulator.Simulator>) =>
  Effect.zipRight(steer, call).pipe(
    Effect.provide(DataAccess.layer().pipe(Layer.provide(AuthV2.layerConfig()), Layer.provide(NodeHttpClient.layer))),
    Effect.flatMap((line) => Console.log(`${line}\n`))
  )

const failWith = (fault: Fault.Fault) =>
  Effect.flatMap(Simulator.Simulator, (simulator) => simulator.failTokenRequests(fault))

Effect.gen(function*() {
  yield* round(failWith(Fault.oauthError(401, "invalid_client")))
  yield* round(failWith(Fault.oauthError(400, "invalid_target")))
  yield* round(failWith(Fault.Response({ status: 503, headers: { "retry-after": "30" } })))
  yield* round(failWith(Fault.Response({ status: 200, body: "<html>Sign in</html>" })))
  yield* round(
    Effect.flatMap(
      Simulator.Simulator,
      (simulator) =>
        simulator.failTokenRequests(Fault.Bytes({ bytes: "not HTTP\r\n\r\n", ending: "End" }), { times: 3 })
    )
  )
  yield* round(Effect.flatMap(Simulator.Simulator, (simulator) => simulator.failCalls(Fault.Reset(), { times: 4 })))
  yield* round(Effect.flatMap(Simulator.Simulator, (simulator) => simulator.grantScopes(["furnishment:all"])))
}).pipe(
  Effect.provide(Simulator.layerConfigProvider.pipe(Layer.provideMerge(Simulator.layer()))),
  NodeRuntime.runMain
)
