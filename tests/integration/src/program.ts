import { AccessScope } from "@credit-data/core"
import { Simulator } from "@credit-data/simulator"
import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect, Redacted, Stream, String as Str } from "effect"
import { fileURLToPath } from "node:url"
import type { TransportName } from "./transports.ts"

const folder = fileURLToPath(new URL("../test/programs/", import.meta.url))

/** The variables that lead a program to the simulator. */
const variables = Effect.gen(function*() {
  const { credentials, environment } = yield* Simulator.Simulator
  const { clientId, clientSecret } = yield* credentials
  return {
    CREDIT_DATA_ENVIRONMENT: environment.name,
    CREDIT_DATA_AUDIENCE: environment.audience,
    CREDIT_DATA_BASE_URL: environment.baseUrl,
    CREDIT_DATA_AUTH_V2_URL: environment.authV2Url,
    CREDIT_DATA_CLIENT_ID: clientId,
    CREDIT_DATA_CLIENT_SECRET: Redacted.value(clientSecret),
    CREDIT_DATA_SCOPES: AccessScope.all.join(" ")
  }
})

/** Starts one of the programs of the tests as a process of its own. `end` waits until it has ended by itself. */
export const start = Effect.fnUntraced(function*(file: string, transport: TransportName) {
  const child = yield* Command.start(
    Command.make(process.execPath, "--import", "tsx", file, transport).pipe(
      Command.workingDirectory(folder),
      Command.env({ NO_COLOR: "1", ...yield* variables })
    )
  )
  const text = (stream: typeof child.stdout) => stream.pipe(Stream.decodeText(), Stream.runFold("", Str.concat))
  const printed = yield* Effect.fork(
    Effect.all({ stdout: text(child.stdout), stderr: text(child.stderr) }, { concurrency: "unbounded" })
  )
  return {
    child,
    end: Effect.gen(function*() {
      const exitCode = yield* child.exitCode
      return { exitCode, ...(yield* printed) }
    })
  }
}, Effect.provide(NodeContext.layer))
