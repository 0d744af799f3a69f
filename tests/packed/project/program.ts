// The first program of a new user: calls with a V2 token, calls with a V1 token, and a failure that is identified by its tag.

import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import * as TokenError from "@credit-data/core/TokenError"
import { DataAccess } from "@credit-data/http-client"
import { SharedTokens, TokenStore } from "@credit-data/fleet"
import { Fault, Simulator } from "@credit-data/simulator"
import { RedisTokenStore } from "@credit-data/store-redis"
import { FetchHttpClient, FileSystem } from "@effect/platform"
import { NodeFileSystem, NodeHttpClient } from "@effect/platform-node"
import { Console, Effect, Layer, Logger, Redacted } from "effect"

const consumer = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42"))

const V2 = AuthV2.layerConfig()
const V1 = AuthV1.layerConfig()

const over = (auth: typeof V2, transport: typeof FetchHttpClient.layer) =>
  DataAccess.layer().pipe(
    Layer.provideMerge(auth),
    Layer.provide(transport),
    Layer.provide(Simulator.layerConfigProvider),
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

/** Two supplies share one token, as two processes do. */
const share = Effect.fnUntraced(
  function*<E, R>(where: string, store: Layer.Layer<TokenStore.TokenStore, E, R>) {
    const supply = Layer.fresh(
      SharedTokens.layer().pipe(Layer.provide(AuthV2.layerTokenEndpointConfig()), Layer.provide(store))
    )
    const get = Effect.provide(Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get), supply)
    yield* get
    yield* get
    const { tokenRequests } = yield* Simulator.Simulator
    yield* Console.log(where, "token requests:", yield* tokenRequests)
  },
  Effect.provide(
    Layer.provideMerge(Simulator.layerConfigProvider, Layer.merge(Simulator.layer(), NodeHttpClient.layer))
  )
)

const inFiles = Effect.gen(function*() {
  const { makeTempDirectoryScoped } = yield* FileSystem.FileSystem
  yield* share("files", TokenStore.layerFileSystem({ directory: yield* makeTempDirectoryScoped() }))
}).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

const [, , redis] = process.argv
const onRedis = redis === undefined
  ? Effect.void
  : share("Redis", RedisTokenStore.layer({ url: Redacted.make(redis), prefix: `${crypto.randomUUID()}:` }))

const program = Effect.gen(function*() {
  yield* Effect.provide(call, over(V2, NodeHttpClient.layer))
  yield* Effect.provide(call, over(V1, FetchHttpClient.layer))
  yield* Effect.provide(refused, over(V2, FetchHttpClient.layer))
  yield* inFiles
  yield* onRedis
})

await Effect.runPromise(Effect.provide(program, Logger.remove(Logger.defaultLogger)))
