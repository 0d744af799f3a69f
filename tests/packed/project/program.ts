// The first program of a new user: calls with a token of V2, the same with V1, and a failure that is identified by its tag.

import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import * as TokenError from "@credit-data/core/TokenError"
import { DataAccess } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Console, Effect, Layer, Logger } from "effect"

const consumer = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42"))

const over = (auth: ReturnType<typeof AuthV2.layerConfig>, transport: typeof FetchHttpClient.layer) =>
  DataAccess.layer().pipe(
    Layer.provideMerge(auth),
    Layer.provide(transport),
    Layer.provide(Simulator.layerConfig),
    Layer.provideMerge(Simulator.layer())
  )

const call = Effect.gen(function*() {
  const [first, second] = yield* Effect.all([consumer, consumer], { concurrency: 2 })
  const { tokenRequests } = yield* Simulator.Simulator
  const { phase } = yield* Effect.flatMap(AccessTokens.AccessTokens, ({ status }) => status)
  yield* Console.log(first.status, second.status, phase, "token requests:", yield* tokenRequests)
})

const refused = Effect.gen(function*() {
  const { failTokenRequests } = yield* Simulator.Simulator
  yield* failTokenRequests(Fault.oauthError(401, "invalid_client"))
  const error = yield* Effect.flip(consumer)
  yield* Console.log(error._tag, TokenError.isTokenError(error))
})

const program = Effect.gen(function*() {
  yield* Effect.provide(call, over(AuthV2.layerConfig(), NodeHttpClient.layer))
  yield* Effect.provide(call, over(AuthV1.layerConfig(), FetchHttpClient.layer))
  yield* Effect.provide(refused, over(AuthV2.layerConfig(), FetchHttpClient.layer))
})

await Effect.runPromise(Effect.provide(program, Logger.remove(Logger.defaultLogger)))
