// Gets a token, makes a call, prints "done" and exits.

import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { auth, transport } from "../../src/programOptions.ts"

Effect.gen(function*() {
  const tokens = yield* AccessTokens.AccessTokens
  yield* tokens.get
  const response = yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42"))
  yield* response.json
  yield* tokens.refresh
  yield* Console.log("done")
}).pipe(
  Effect.provide(DataAccess.layer().pipe(Layer.provideMerge(auth), Layer.provide(transport))),
  NodeRuntime.runMain
)
