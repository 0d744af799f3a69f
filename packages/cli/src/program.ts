import { amend } from "@credit-data/core/Internal"
import { isTokenError, type TokenError } from "@credit-data/core/TokenError"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type { Run } from "./commandLine/parse.ts"
import { exec } from "./commands/exec.ts"
import { status } from "./commands/status.ts"
import { token } from "./commands/token.ts"
import { Ended, ofExit } from "./failure.ts"
import { last } from "./childExit.ts"
import { note, unsafeNote } from "./terminal.ts"

/** Does the failure apply to the next process too, because of the cache or the server? */
const isBinding = (error: TokenError, { options }: Run): boolean =>
  ("cache" in options && options.cache) || (error._tag === "ServerError" && error.retryAfter !== undefined)

const messageOf = (error: unknown, given: Run): string => {
  if (isTokenError(error) && !isBinding(error, given)) return amend(error, { nextTryAt: undefined }).message
  // the rest of its message is for programs
  if (HttpClientError.isHttpClientError(error) && error._tag === "RequestError" && error.description !== undefined) {
    return error.description
  }
  return error instanceof Error && error.message !== "" ? error.message : String(error)
}

/** Prints what went wrong, once, on standard error. */
const report = (given: Run) => (cause: Cause.Cause<unknown>) => {
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  return Option.match(Cause.failureOption(cause), {
    onSome: (error) => error instanceof Ended ? Effect.void : note(messageOf(error, given)),
    onNone: () => {
      const defect = Cause.squash(cause)
      // the message may quote anything, and the lines of the stack only name code
      const stack = defect instanceof Error ? defect.stack?.match(/^ +at .*$/gm) ?? [] : []
      return note([
        `A defect of this program: ${
          defect instanceof Error ? defect.name : "unknown"
        }. Please report it with the command.`,
        ...stack
      ].join("\n"))
    }
  })
}

// what few commands use is loaded by them
const main = (given: Run) => {
  switch (given.name) {
    case "token":
      return token(given)
    case "doctor":
      return Effect.flatMap(Effect.promise(() => import("./commands/doctor.ts")), ({ doctor }) => doctor(given))
    case "compare":
      return Effect.flatMap(Effect.promise(() => import("./commands/compare.ts")), ({ compare }) => compare(given))
    case "call":
      return Effect.flatMap(Effect.promise(() => import("./commands/call.ts")), ({ call }) => call(given))
    case "exec":
      return exec(given)
    case "status":
      return status(given)
    case "simulator":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/simulator.ts")),
        ({ simulator }) => simulator(given)
      )
  }
}

const logger = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ logLevel, message }) => {
    // an error is the failure of the command, which is printed anyway
    if (logLevel === LogLevel.Warning) unsafeNote(`warning: ${String(message)}`)
  })
)

/** Runs a command to the end of the process. */
export const run = (given: Run): void =>
  Effect.suspend(() => main(given)).pipe(
    Effect.tapErrorCause(report(given)),
    Effect.provide(Layer.merge(logger, Logger.minimumLogLevel(LogLevel.Warning))),
    NodeRuntime.runMain({
      disableErrorReporting: true,
      disablePrettyLogger: true,
      teardown: (exit, onExit) => onExit(last.code ?? ofExit(exit))
    })
  )
