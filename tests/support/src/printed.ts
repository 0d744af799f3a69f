import { Effect, Logger, LogLevel } from "effect"

/** What an effect logs, with its level. A test that needs a line of the log takes it from the function that logs it, so that its text can change. */
export const printed = (line: Effect.Effect<void>): string => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) =>
    void lines.push(`${logLevel.label} ${[message].flat()[0]}`)
  )
  Effect.runSync(line.pipe(
    Effect.provide([Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.Debug)])
  ))
  return lines[0] ?? ""
}

/** The beginning of a line, up to the first argument: `…`. */
export const beginning = (line: Effect.Effect<void>): string => printed(line).split("…")[0] ?? ""
