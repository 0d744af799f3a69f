import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { parseArgs } from "node:util"
import type { Options } from "./standalone.ts"
import { StartError } from "./startError.ts"

export const help = `\
An imitation of the credit-data service on this machine: Auth V1, Auth V2 and the business API.

Usage: credit-data-simulator [options]

  --port <port>           the first of three consecutive ports, or of four with --console (default 7400)
  --host <address>        the address to listen on, such as 0.0.0.0 for all (default 127.0.0.1)
  --token-lifetime <time> the lifetime of tokens, such as 90s, 10m or 24h (default 24h)
  --console               serve the console, a page that shows every request, and the admin API
  --log                   print a line for each request when its outcome is known
  --fixtures <path>       respond to calls from a folder of JSON files
  --write-env <file>      write the variables to a new file that only you can read
  --help                  print this help

SIMULATOR_PORT is the default of --port. SIMULATOR_KEY sets the key of the console, which is otherwise new at each start.

Examples:

  credit-data-simulator --console --log
  credit-data-simulator --write-env .env.simulator
  credit-data-simulator --token-lifetime 1m --fixtures fixtures`

const options = {
  port: { type: "string" },
  host: { type: "string" },
  "token-lifetime": { type: "string" },
  console: { type: "boolean" },
  log: { type: "boolean" },
  fixtures: { type: "string" },
  "write-env": { type: "string" },
  help: { type: "boolean", short: "h" }
} as const

const fail = (message: string) => Effect.fail(new StartError({ message: `${message} See --help.` }))

/** The message for an unknown option names only the option. Others could repeat a value. */
const reasonOf = (error: unknown) =>
  error instanceof Error && error.message.startsWith("Unknown option")
    ? `${error.message.split(".")[0]}.`
    : "The arguments are not valid."

/** The settings that the arguments of the command give, or nothing if they ask for help. */
export const parse = (args: ReadonlyArray<string>): Effect.Effect<Option.Option<Options>, StartError> =>
  Effect.gen(function*() {
    const { values } = yield* Effect.catchAll(
      Effect.try({ try: () => parseArgs({ args: [...args], options }), catch: reasonOf }),
      fail
    )
    if (values.help === true) return Option.none()
    return Option.some({
      port: values.port === undefined ? undefined : Number(values.port),
      host: values.host,
      tokenLifetime: values["token-lifetime"],
      console: values.console,
      log: values.log,
      fixtures: values.fixtures,
      writeEnv: values["write-env"]
    })
  })
