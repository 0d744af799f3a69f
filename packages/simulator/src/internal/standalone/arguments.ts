import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { parseArgs } from "node:util"
import type { Options } from "./standalone.ts"
import { StartError } from "./startError.ts"

/** The options of the command. The help and the documentation show the placeholder and the summary. */
export const options = {
  port: {
    type: "string",
    placeholder: "<port>",
    summary: "the first of three consecutive ports, or of four with --console (default 7400)"
  },
  host: {
    type: "string",
    placeholder: "<address>",
    summary: "the address to listen on, such as 0.0.0.0 for all (default 127.0.0.1)"
  },
  "token-lifetime": {
    type: "string",
    placeholder: "<time>",
    summary: "the lifetime of tokens, such as 90s, 10m or 24h (default 24h)"
  },
  console: {
    type: "boolean",
    placeholder: "",
    summary: "serve the console, a page that shows the requests, and the admin API"
  },
  log: { type: "boolean", placeholder: "", summary: "print a line for each request when its outcome is known" },
  fixtures: {
    type: "string",
    placeholder: "<path>",
    summary: "respond to calls from a folder of JSON files"
  },
  "write-env": {
    type: "string",
    placeholder: "<file>",
    summary: "write the variables to a new file that only you can read"
  },
  help: { type: "boolean", short: "h", placeholder: "", summary: "print this help" }
} as const

/** The variables that the command reads, for the help and the documentation. */
export const variables = {
  SIMULATOR_PORT: "the default of --port",
  SIMULATOR_KEY: "the key of the console and the admin API (default: new at each start)"
} as const

const rows = [
  ...Object.entries(options).map(([name, { placeholder, summary }]) => [`--${name} ${placeholder}`, summary] as const),
  ["", ""] as const,
  ...Object.entries(variables)
]

export const help = `\
An imitation of the credit-data service on this machine: Auth V1, Auth V2 and the business API.

Usage: credit-data-simulator [options]

${rows.map(([term, text]) => `  ${term.padEnd(23)} ${text}`.trimEnd()).join("\n")}

Examples:

  credit-data-simulator --console --log
  credit-data-simulator --write-env .env.simulator
  credit-data-simulator --token-lifetime 1m --fixtures fixtures`

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
