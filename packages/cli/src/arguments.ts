import * as Effect from "effect/Effect"
import { exitCode, Failure } from "./exitCode.ts"

/** Options that other tools have for credentials. Arguments are visible to all users of a machine. */
const secrets = /^--?(client[-_]?secret|secret|password|client[-_]?id)(=|$)/i

const shells = ["bash", "zsh", "fish"]

/** The options that can be given several times. The parser accepts `--name=value` for all others only. */
const repeated: Readonly<Record<string, string>> = { compare: "--probe", call: "--header" }

/** `--name=value` as two arguments. */
const separated = (name: string) => (argument: string): ReadonlyArray<string> =>
  argument.startsWith(`${name}=`) ? [name, argument.slice(name.length + 1)] : [argument]

/** The arguments of the parser. Checks what the parser does not, before anything repeats the arguments. */
export const argumentsOf = (argv: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, Failure> => {
  const [node = "", program = "", ...own] = argv
  const end = own.includes("--") ? own.indexOf("--") : own.length
  const before = own.slice(0, end)
  if (before.some((argument) => secrets.test(argument))) {
    return Effect.fail(
      new Failure({
        code: exitCode.usage,
        message: "Credentials are never arguments, because all users of this machine can see them. " +
          "Set CREDIT_DATA_CLIENT_ID and CREDIT_DATA_CLIENT_SECRET."
      })
    )
  }
  if (before.includes("--wizard") && !process.stdin.isTTY) {
    return Effect.fail(new Failure({ code: exitCode.usage, message: "The wizard needs a terminal." }))
  }
  const [command = "", shell = ""] = own
  if (command !== "completions") {
    const name = repeated[command]
    const args = name === undefined ? before : before.flatMap(separated(name))
    return Effect.succeed([node, program, ...args, ...own.slice(end)])
  }
  return shells.includes(shell) && own.length === 2
    ? Effect.succeed([node, program, "--completions", shell])
    : Effect.fail(new Failure({ code: exitCode.usage, message: "Expected one shell: bash, zsh or fish." }))
}
