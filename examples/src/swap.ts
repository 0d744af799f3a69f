// A migration from V1 to V2 changes one word in the program's layers, and its variables. A rollback changes the word back.
//
// Do not migrate clients of Data Access V1: they remain on AuthV1.

import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { Furnishment } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import type { HttpClient } from "@effect/platform"
import { type ConfigError, Console, Effect, Layer } from "effect"

const program = Effect.gen(function*() {
  const tokens = yield* AccessTokens.AccessTokens
  const furnishment = yield* Furnishment.Furnishment
  const response = yield* furnishment.post("/furnishment/submissions")
  const token = yield* tokens.get
  yield* Console.log(`${response.status} with ${token.scopes.join(" ")}`)
})

const composedWith = (auth: Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError, HttpClient.HttpClient>) =>
  Effect.provide(program, Furnishment.layer().pipe(Layer.provideMerge(auth), Layer.provide(NodeHttpClient.layer)))

const before = composedWith(AuthV1.layerConfig())
const after = composedWith(AuthV2.layerConfig())

Effect.zipRight(before, after).pipe(
  Effect.provide(Simulator.layerConfigProvider.pipe(Layer.provide(Simulator.layer()))),
  NodeRuntime.runMain
)
