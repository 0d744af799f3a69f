// A real environment, named by the variables CREDIT_DATA_*: obtains a token, tells what was granted, sends nothing else.
//
// Every variable that is missing or wrong is named, all at once, and no value is shown.

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

// over connections that are kept
const Http = NodeHttpClient.layerWithoutAgent.pipe(
  Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: true }))
)
const Auth = AuthV2.layerConfig().pipe(Layer.provide(Http))

program.pipe(Effect.provide(Auth), NodeRuntime.runMain)
