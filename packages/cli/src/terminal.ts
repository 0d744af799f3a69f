import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { stripVTControlCharacters, styleText } from "node:util"

/** Colour is for people only: on a terminal, and unless `NO_COLOR` is set (https://no-color.org). */
const hasColor = ({ isTTY }: { readonly isTTY?: boolean }): boolean =>
  isTTY === true && (process.env["NO_COLOR"] ?? "") === "" && process.env["TERM"] !== "dumb"

type Color = "green" | "red" | "yellow" | "dim" | "bold"

/** Text of standard output in a colour that has a meaning. */
export const colored = (color: Color, text: string): string =>
  hasColor(process.stdout) ? styleText(color, text, { validateStream: false }) : text

export const isTerminal = (): boolean => process.stdout.isTTY

const escape = String.fromCharCode(27)
const usageWithoutProgram = new RegExp(`^((?:${escape}\\[\\d*m)*\\s*)\\$ (?!credit-data)`, "gm")

/** The usage of a subcommand begins with its own name only, and an unknown option may have been given with a secret. */
const corrected = (text: string): string =>
  text.replaceAll(usageWithoutProgram, "$1$ credit-data ").replaceAll(/(--[\w-]+)=[^'\n]*/g, "$1=…")

const print = (stream: NodeJS.WriteStream) => (...parts: ReadonlyArray<unknown>): void => {
  const text = corrected(parts.map(String).join(" ")).trimEnd()
  stream.write(`${hasColor(stream) ? text : stripVTControlCharacters(text)}\n`)
}

/** The console of the parser of options, which writes colours everywhere. */
export const withOwnConsole = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Console.consoleWith(Effect.succeed), (console) =>
    Effect.withConsole(effect, {
      ...console,
      log: (...parts) => Effect.sync(() => print(process.stdout)(...parts)),
      error: (...parts) => Effect.sync(() => print(process.stderr)(...parts))
    }))

/** Writes bytes of an answer. Waits for its reader, because the process may exit right after. */
export const write = (bytes: Uint8Array | string): Effect.Effect<void> =>
  Effect.async((resume) => {
    process.stdout.write(bytes, () => resume(Effect.void))
  })

/** The answer of a command. */
export const answer = (text: string): Effect.Effect<void> => write(`${text}\n`)

/** Everything else: messages for people. */
export const note = (text: string): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stderr.write(`${text}\n`)
  })

/** Lines of aligned columns. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths: Array<number> = []
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, stripVTControlCharacters(cell).length)
    })
  }
  const padded = (cell: string, column: number) =>
    cell + " ".repeat((widths[column] ?? 0) - stripVTControlCharacters(cell).length)
  return rows.map((row) => row.map(padded).join("  ").trimEnd()).join("\n")
}
