// Credentials from a secret manager: an effect, read when the layer is built, and once more when the endpoint refuses
// the client. So a secret that was rotated is picked up without a restart.

import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Data, Effect, Layer } from "effect"

class SecretManagerDown extends Data.TaggedError("SecretManagerDown")<{ readonly name: string }> {}

/** A call to a secret manager; the simulator plays its part here. Its failure is the failure of the layer. */
const readSecret = (name: string) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* Console.log(`reading ${name}`)
    return yield* simulator.credentials
  }).pipe(Effect.timeoutFail({ duration: "3 seconds", onTimeout: () => new SecretManagerDown({ name }) }))

const Auth = Layer.unwrapEffect(Effect.map(Simulator.Simulator, ({ environment }) =>
  AuthV2.layer({
    environment,
    credentials: readSecret("credit-data/client"),
    scopes: ["data-access:all"]
  })))

const program = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const tokens = yield* AccessTokens.AccessTokens
  const first = yield* tokens.get
  yield* Console.log(`a token for ${first.scopes.join(" ")}`)
  yield* simulator.rotateSecret
  yield* tokens.invalidate(first)
  yield* tokens.get
  yield* Console.log(`another token, after ${yield* simulator.tokenRequests} requests: the second one was refused`)
})

program.pipe(
  Effect.provide(Auth.pipe(Layer.provide(NodeHttpClient.layer), Layer.provideMerge(Simulator.layer()))),
  Effect.catchTag("SecretManagerDown", ({ name }) => Console.error(`The secret manager didn't answer for ${name}.`)),
  NodeRuntime.runMain
)
