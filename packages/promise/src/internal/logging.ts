import * as Arr from "effect/Array"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type { Log } from "../Log.ts"

/** One line of JSON for each warning and error. */
const toStandardError = (date: Date): Log => {
  const lineOf = (level: string) => (message: string) =>
    void process.stderr.write(`${JSON.stringify({ time: date.toISOString(), level, message })}\n`)
  return { debug() {}, info() {}, warn: lineOf("WARN"), error: lineOf("ERROR") }
}

const methods: Readonly<Record<string, keyof Log>> = { INFO: "info", WARN: "warn", ERROR: "error", FATAL: "error" }

/** Passes every message on. A call of a log that throws would otherwise never settle. */
export const logging = (log?: Log): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ date, logLevel, message }) => {
        try {
          const used = log ?? toStandardError(date)
          used[methods[logLevel.label] ?? "debug"](Arr.ensure(message).map(String).join(" "))
        } catch {
          // what a program's log does is its own, and its callers still get their results
        }
      })
    ),
    Logger.minimumLogLevel(LogLevel.Debug),
    // the caller of a `fetch` handles its rejection
    Layer.locallyScoped(FiberRef.unhandledErrorLogLevel, Option.none())
  )
