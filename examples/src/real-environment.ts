// Obtains a token from the environment in the variables CREDIT_DATA_*, prints its scopes and expiry, and does not
// call the API.
//
// If variables are missing or wrong, the error names them and shows no value.

import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, DateTime, Effect, Layer } from "effect"

const program = Effect.gen(function*() {
  const tokens = yield* AccessTokens.AccessTokens
  const token = yield* tokens.get
  yield* Console.log(`${tokens.environment.name} granted ${token.scopes.join(" ")}`)
  yield* Console.log(`until ${DateTime.formatIso(token.expiresAt)}`)
})

// with keep-alive connections
const Http = NodeHttpClient.layerWithoutAgent.pipe(
  Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: true, timeout: 4_000 }))
)
const Auth = AuthV2.layerConfig().pipe(Layer.provide(Http))

program.pipe(Effect.provide(Auth), NodeRuntime.runMain)
