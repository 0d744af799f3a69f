import * as Arr from "effect/Array"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { writeSync } from "node:fs"
import type { Log } from "../Log.ts"

/** A worker has it too, but no `process.stderr.fd`. */
const standardError = 2

/** One line of JSON for each warning and error. */
const toStandardError = (date: Date): Log => {
  const lineOf = (level: string) => (message: string) =>
    // a write to a stream that is gone would end the process
    writeSync(standardError, `${JSON.stringify({ time: date.toISOString(), level, message })}\n`)
  return { debug() {}, info() {}, warn: lineOf("WARN"), error: lineOf("ERROR") }
}

const methods: Readonly<Record<string, keyof Log>> = { INFO: "info", WARN: "warn", ERROR: "error", FATAL: "error" }

/** Passes every message on. What a program's log does is its own, and its callers still get their results. */
export const logging = (log?: Log): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ date, logLevel, message }) => {
        try {
          const used = log ?? toStandardError(date)
          const logged: unknown = used[methods[logLevel.label] ?? "debug"](Arr.ensure(message).map(String).join(" "))
          if (logged instanceof Promise) logged.catch(() => undefined)
        } catch {
          // a call would otherwise never settle
        }
      })
    ),
    Logger.minimumLogLevel(LogLevel.Debug)
  )
