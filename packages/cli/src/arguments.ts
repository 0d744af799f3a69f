import * as Effect from "effect/Effect"
import { exitCode, Failure } from "./exitCode.ts"

/** Options that other tools have for credentials. Arguments are visible to all users of a machine. */
const secrets = /^--?(client[-_]?secret|secret|password|client[-_]?id)(=|$)/i

const shells = ["bash", "zsh", "fish"]

/** The arguments of the parser. Checks what the parser does not, before anything repeats the arguments. */
export const argumentsOf = (argv: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, Failure> => {
  const [, , ...own] = argv
  const end = own.indexOf("--")
  const before = end < 0 ? own : own.slice(0, end)
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
  const [command, shell = ""] = own
  if (command !== "completions") return Effect.succeed(argv)
  return shells.includes(shell) && own.length === 2
    ? Effect.succeed([...argv.slice(0, 2), "--completions", shell])
    : Effect.fail(new Failure({ code: exitCode.usage, message: "Expected one shell: bash, zsh or fish." }))
}
