// Secrets as files, as Kubernetes mounts them: one file per variable, in one folder. A variable takes precedence over the
// file of the same name. When the token endpoint refuses the old secret, the files are read again.

import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { Simulator } from "@credit-data/simulator"
import { FileSystem, Path, PlatformConfigProvider } from "@effect/platform"
import { NodeContext, NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted } from "effect"

/** Writes the credentials into the mounted folder, as the cluster does. Here they come from the simulator. */
const mount = Effect.fnUntraced(function*(folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const simulator = yield* Simulator.Simulator
  const { clientId, clientSecret } = yield* simulator.credentials
  yield* files.writeFileString(path.join(folder, "CREDIT_DATA_CLIENT_ID"), clientId)
  yield* files.writeFileString(path.join(folder, "CREDIT_DATA_CLIENT_SECRET"), `${Redacted.value(clientSecret)}\n`)
})

const program = (folder: string) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const tokens = yield* AccessTokens.AccessTokens
    const first = yield* tokens.get
    yield* Console.log(`a token for ${first.scopes.join(" ")}`)
    yield* simulator.rotateSecret
    yield* mount(folder)
    yield* tokens.replace(first)
    yield* Console.log(`another token with the rotated secret, after ${yield* simulator.tokenRequests} token requests`)
  })

Effect.gen(function*() {
  const folder = yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped())
  yield* mount(folder)

  // In your program, these variables come from the environment of the process: see first-program.ts.
  const { CREDIT_DATA_CLIENT_ID: _id, CREDIT_DATA_CLIENT_SECRET: _secret, ...variables } = yield* Simulator.variables
  Object.assign(process.env, variables, { CREDIT_DATA_SCOPES: "data-access:all" })

  const Auth = AuthV2.layerConfig().pipe(
    Layer.provide(PlatformConfigProvider.layerFileTreeAdd({ rootDirectory: folder })),
    Layer.provide(NodeHttpClient.layer)
  )
  yield* Effect.provide(program(folder), Auth)
}).pipe(
  Effect.scoped,
  Effect.provide([Simulator.layer(), NodeContext.layer]),
  NodeRuntime.runMain
)
