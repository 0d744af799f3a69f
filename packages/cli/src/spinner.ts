import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { escape, hasColor, hasUnicode } from "./color.ts"

/** A spinner is for people only too, and a log of CI has no cursor to move back. */
const hasSpinner = (): boolean => hasColor(process.stderr) && process.stdout.isTTY && (process.env["CI"] ?? "") === ""

const frames = hasUnicode() ? "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" : "|/-\\"

const spinner = { isShown: false }

/** Makes room for a line of output. */
export const clearSpinner = (): void => {
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
          process.stderr.write(`\r${frames.charAt(turn % frames.length)}`)
        }),
        // nothing is shown for a command that ends at once
        turn === 0 ? "300 millis" : "100 millis"
      ),
      turn + 1
    )
})

/** Shows a spinner until the effect ends. Output takes its place meanwhile. */
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
