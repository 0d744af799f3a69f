import { Effect, Logger } from "effect"

/** The lines of the log while the effect runs. */
export const logged = Effect.fnUntraced(
  function*<A, E, R>(use: (lines: Array<string>) => Effect.Effect<A, E, R>) {
    const lines: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      lines.push(`${logLevel.label} ${String(message)}`)
    })
    return yield* Effect.provide(use(lines), Logger.replace(Logger.defaultLogger, logger))
  }
)
