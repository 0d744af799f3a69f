// Two processes share one token through a folder. The first process starts the second one.

import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { SharedTokens, TokenStore } from "@credit-data/fleet"
import { Simulator } from "@credit-data/simulator"
import { FileSystem } from "@effect/platform"
import { NodeContext, NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Option } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const execute = promisify(execFile)

/** What each process does: it gets a token, and prints where the token came from. */
const run = (directory: string) => {
  const Auth = SharedTokens.layer().pipe( // was: AuthV2.layerConfig()
    Layer.provide(AuthV2.layerTokenEndpointConfig()),
    Layer.provide(TokenStore.layerFileSystem({ directory }))
  )
  return Effect.gen(function*() {
    const tokens = yield* AccessTokens.AccessTokens
    yield* tokens.get
    const taken = Option.exists((yield* tokens.status).store, ({ tokensTaken }) => tokensTaken > 0)
    yield* Console.log(`process ${process.pid}: a token ${taken ? "from the store" : "from the token endpoint"}`)
  }).pipe(Effect.provide(Auth))
}

const second = (directory: string) =>
  Effect.gen(function*() {
    const env = { ...process.env, ...(yield* Simulator.variables) }
    const { stdout } = yield* Effect.tryPromise(() =>
      execute(process.execPath, ["--import", "tsx", fileURLToPath(import.meta.url), directory], { env })
    )
    yield* Console.log(stdout.trim())
  })

const both = Effect.gen(function*() {
  const { makeTempDirectoryScoped } = yield* FileSystem.FileSystem
  const directory = yield* makeTempDirectoryScoped()
  yield* run(directory)
  yield* second(directory)
  const { tokenRequests } = yield* Simulator.Simulator
  yield* Console.log(`token requests: ${yield* tokenRequests}`)
}).pipe(
  Effect.scoped,
  Effect.provide(Layer.provideMerge(Simulator.layerConfigProvider, Simulator.layer()))
)

const [, , shared] = process.argv
const program = shared === undefined ? both : run(shared)

program.pipe(
  Effect.provide([NodeContext.layer, NodeHttpClient.layer]),
  NodeRuntime.runMain
)
