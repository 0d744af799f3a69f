import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { exitCode, Failure } from "../exitCode.ts"

const port = Options.integer("port").pipe(
  Options.withDescription(
    "The first of three consecutive ports, or of four with --console. Default: SIMULATOR_PORT, or 7400"
  ),
  Options.optional
)

const tokenLifetime = Options.text("token-lifetime").pipe(
  Options.withDescription("The lifetime of tokens, such as 90s, 10m or 24h. Default: 24h"),
  Options.optional
)

const console = Options.boolean("console").pipe(
  Options.withDescription("Serve the console, a page that shows every request, and the admin API")
)

const log = Options.boolean("log").pipe(
  Options.withDescription("Print a line for each request when its outcome is known")
)

const fixtures = Options.text("fixtures").pipe(
  Options.withDescription("Respond to calls from a folder of JSON files, or from the examples of an OpenAPI document"),
  Options.optional
)

const writeEnv = Options.text("write-env").pipe(
  Options.withDescription("Write the variables to a new file that only you can read"),
  Options.optional
)

export const simulator = Command.make(
  "simulator",
  { port, tokenLifetime, console, log, fixtures, writeEnv },
  ({ console, fixtures, log, port, tokenLifetime, writeEnv }) =>
    // loaded when it is needed, so that the other commands start fast
    Effect.promise(() => import("@credit-data/simulator/Internal")).pipe(
      Effect.flatMap(({ Standalone }) =>
        Standalone.run({
          console,
          log,
          fixtures: Option.getOrUndefined(fixtures),
          port: Option.getOrUndefined(port),
          tokenLifetime: Option.getOrUndefined(tokenLifetime),
          writeEnv: Option.getOrUndefined(writeEnv)
        })
      ),
      Effect.mapError(({ message }) => new Failure({ code: exitCode.usage, message }))
    )
).pipe(Command.withDescription("Run an imitation of the service on this machine"))
