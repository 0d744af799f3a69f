import * as Effect from "effect/Effect"
import { clearSpinner } from "./spinner.ts"

export const isTerminal = (): boolean => process.stdout.isTTY

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
