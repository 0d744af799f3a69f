import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { hasColor, hasUnicode, isTerminal } from "./text.ts"

/** A spinner is for people only too, and a log of CI has no cursor to move back. */
const hasSpinner = (): boolean => hasColor(process.stderr) && isTerminal() && (process.env["CI"] ?? "") === ""

const frames = hasUnicode() ? "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" : "|/-\\"

const spinner = { isShown: false }

const clearLine = "\r\u001b[K"

const clearSpinner = (): void => {
  if (spinner.isShown) process.stderr.write(clearLine)
  spinner.isShown = false
}

const turn = (count: number) =>
  Effect.sync(() => {
    spinner.isShown = true
    process.stderr.write(`\r${frames.charAt(count % frames.length)}`)
    return count + 1
    // nothing is shown for a command that ends at once
  }).pipe(Effect.delay(count === 0 ? "300 millis" : "100 millis"))

/** Shows a spinner until the effect ends. Output takes its place meanwhile. */
export const waiting = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() =>
    hasSpinner()
      ? Effect.acquireUseRelease(
        Effect.fork(Effect.interruptible(Effect.iterate(0, { while: () => true, body: turn }))),
        () => effect,
        (fiber) => Effect.zipRight(Fiber.interrupt(fiber), Effect.sync(clearSpinner))
      )
      : effect
  )

/** Writes to standard output. Waits for its reader, because the process may exit right after. */
export const write = (bytes: Uint8Array | string): Effect.Effect<void> =>
  Effect.async((resume) => {
    clearSpinner()
    process.stdout.write(bytes, () => resume(Effect.void))
  })

/** Writes a line to standard output: the requested output, and nothing else. */
export const printLine = (text: string): Effect.Effect<void> => write(`${text}\n`)

/** Everything else: messages for people. */
export const unsafeNote = (text: string): void => {
  clearSpinner()
  process.stderr.write(`${text}\n`)
}

export const note = (text: string): Effect.Effect<void> => Effect.sync(() => unsafeNote(text))
