import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
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

/** A spinner is for people only too, and a log of CI has no cursor to move back. */
const hasSpinner = (): boolean => hasColor(process.stderr) && process.stdout.isTTY && (process.env["CI"] ?? "") === ""

const spinner = { frames: "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", isShown: false }

const clearSpinner = (): void => {
  if (spinner.isShown) process.stderr.write(`\r${escape}[K`)
  spinner.isShown = false
}

const spin = Effect.iterate(0, {
  while: () => true,
  body: (turn) =>
    Effect.as(
      Effect.delay(
        Effect.sync(() => {
          spinner.isShown = true
          process.stderr.write(`\r${spinner.frames.charAt(turn % spinner.frames.length)}`)
        }),
        // nothing is shown for a command that ends at once
        turn === 0 ? "300 millis" : "100 millis"
      ),
      turn + 1
    )
})

/** Shows a spinner until the effect ends. Answers and notes take its place meanwhile. */
export const waiting = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() =>
    hasSpinner()
      ? Effect.acquireUseRelease(
        Effect.fork(Effect.interruptible(spin)),
        () => effect,
        (fiber) => Effect.zipRight(Fiber.interrupt(fiber), Effect.sync(clearSpinner))
      )
      : effect
  )

/** Writes bytes of an answer. Waits for its reader, because the process may exit right after. */
export const write = (bytes: Uint8Array | string): Effect.Effect<void> =>
  Effect.async((resume) => {
    clearSpinner()
    process.stdout.write(bytes, () => resume(Effect.void))
  })

/** The answer of a command. */
export const answer = (text: string): Effect.Effect<void> => write(`${text}\n`)

/** Everything else: messages for people. */
export const unsafeNote = (text: string): void => {
  clearSpinner()
  process.stderr.write(`${text}\n`)
}

export const note = (text: string): Effect.Effect<void> => Effect.sync(() => unsafeNote(text))

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
