import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { stripVTControlCharacters } from "node:util"
import { escape, hasColor } from "./color.ts"

const usageWithoutProgram = new RegExp(`^((?:${escape}\\[\\d*m)*\\s*)\\$ (?!credit-data)`, "gm")

/** The parser quotes an argument that it does not expect. It may be a secret, so only the name of an option is repeated. */
const unexpected = (_: string, argument: string): string => {
  const [option] = /^--?[\w-]+/.exec(argument) ?? []
  return option === undefined
    ? "There is an argument too many, or an option is given twice."
    : `Unknown option, or an option without its value: ${option}`
}

/** The messages of the parser that could be clearer. The usage of a subcommand begins with its own name only. */
const corrected = (text: string): string =>
  text
    .replaceAll(usageWithoutProgram, "$1$ credit-data ")
    .replace(/Received unknown argument: '([^]*)'/, unexpected)
    .replace(
      "Invalid subcommand for credit-data - use one of",
      "Expected a command first, then its options. The commands are"
    )

/** The parser writes in white, which nobody can read on a light terminal. The colour of the terminal takes its place. */
const white = new RegExp(`${escape}\\[0;37(;1)?m`, "g")

const print = (stream: NodeJS.WriteStream) => (...parts: ReadonlyArray<unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const text = corrected(parts.map(String).join(" ")).trimEnd()
    const plain = stripVTControlCharacters(text)
    // Ctrl-C in the wizard is a success for the parser
    if (plain.endsWith("Quitting wizard mode...")) return Effect.interrupt
    return Effect.sync(() => {
      stream.write(`${hasColor(stream) ? text.replaceAll(white, `${escape}[0$1m`) : plain}\n`)
    })
  })

/** The console of the parser of options, which writes colours everywhere. */
export const withOwnConsole = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Console.consoleWith(Effect.succeed), (console) =>
    Effect.withConsole(effect, {
      ...console,
      log: print(process.stdout),
      error: print(process.stderr)
    }))
