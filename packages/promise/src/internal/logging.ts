import * as Arr from "effect/Array"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import type { Log } from "../Log.ts"

const lineOf = (level: string) => (message: string) =>
  void process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message })}\n`)

const toStandardError: Log = { debug() {}, info() {}, warn: lineOf("WARN"), error: lineOf("ERROR") }

const methods: Readonly<Record<string, keyof Log>> = { INFO: "info", WARN: "warn", ERROR: "error", FATAL: "error" }

/** Passes every message on. */
export const logging = (log: Log = toStandardError): Layer.Layer<never> =>
  Layer.merge(
    Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ logLevel, message }) =>
        log[methods[logLevel.label] ?? "debug"](Arr.ensure(message).map(String).join(" "))
      )
    ),
    Logger.minimumLogLevel(LogLevel.Debug)
  )
