// Credentials from a secret manager. They are read when the layer is built, and again when the token endpoint refuses the client.
// A program therefore uses a rotated secret without a restart.

import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, ClientCredentials } from "@credit-data/core"
import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Context, Data, Effect, Layer } from "effect"

class SecretManagerDown extends Data.TaggedError("SecretManagerDown")<{ readonly name: string }> {}

/** Your client of a secret manager. If reading fails when the layer is built, the layer fails with the same error. */
class SecretManager extends Context.Tag("SecretManager")<SecretManager, {
  readonly read: (name: string) => Effect.Effect<ClientCredentials.ClientCredentials, SecretManagerDown>
}>() {}

/** Here, the simulator replaces a secret manager. */
const Secrets = Layer.effect(
  SecretManager,
  Effect.map(Simulator.Simulator, ({ credentials }) => ({
    read: (name) =>
      Effect.zipRight(Console.log(`reading ${name}`), credentials).pipe(
        Effect.timeoutFail({ duration: "3 seconds", onTimeout: () => new SecretManagerDown({ name }) })
      )
  }))
)

const Auth = Layer.unwrapEffect(Effect.map(Simulator.Simulator, ({ environment }) =>
  AuthV2.layer({
    environment,
    credentials: ClientCredentials.from(SecretManager, (secrets) => secrets.read("credit-data/client")),
    scopes: ["data-access:all"]
  })))

const program = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const tokens = yield* AccessTokens.AccessTokens
  const first = yield* tokens.get
  yield* Console.log(`a token for ${first.scopes.join(" ")}`)
  yield* simulator.rotateSecret
  yield* tokens.replace(first)
  yield* Console.log(`another token, after ${yield* simulator.tokenRequests} requests: the second one was refused`)
})

program.pipe(
  Effect.provide(Auth.pipe(Layer.provide([NodeHttpClient.layer, Secrets]), Layer.provideMerge(Simulator.layer()))),
  Effect.catchTag("SecretManagerDown", ({ name }) => Console.error(`The secret manager did not respond for ${name}.`)),
  NodeRuntime.runMain
)
