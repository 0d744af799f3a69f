import { amend } from "@credit-data/core/Internal"
import { isTokenError, type TokenError } from "@credit-data/core/TokenError"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as Cause from "effect/Cause"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type { Run as AnyRun } from "./commandLine/parse.ts"
import { exec, last } from "./commands/exec.ts"
import { token } from "./commands/token.ts"
import { Ended, ofExit } from "./failure.ts"
import { note, unsafeNote } from "./terminal.ts"
import { visible } from "./text.ts"
import { used } from "./variables.ts"

// Runs a command that uses Effect, and prints its failure.

/** A command that uses Effect. */
export type Run = Exclude<AnyRun, { readonly name: "profiles" }>

/** Does the failure apply to the next process too, because of the cache or the server? */
const isBinding = (error: TokenError, { options }: Run): boolean =>
  ("cache" in options && options.cache) || (error._tag === "ServerError" && error.retryAfter !== undefined)

const messageOf = (error: unknown, given: Run): string => {
  if (isTokenError(error) && !isBinding(error, given)) return amend(error, { nextTryAt: undefined }).message
  // the rest of its message is for programs
  if (HttpClientError.isHttpClientError(error) && error._tag === "RequestError" && error.description !== undefined) {
    return error.description
  }
  const message = error instanceof Error && error.message !== "" ? error.message : String(error)
  if (!ConfigError.isConfigError(error) || used.profile === undefined) return message
  // a variable that the profile lacks may be set in the environment
  return `${message}\n${used.profile.hint}`
}

/** Shows only the kind of a defect, because its message may quote anything. The lines of its stack only name code. */
const defectOf = (defect: unknown): string =>
  defect instanceof Error
    ? [
      `A defect of this program: ${defect.name}. Please report it with the command.`,
      ...defect.stack?.match(/^ +at .*$/gm) ?? []
    ].join("\n")
    : "A defect of this program: unknown. Please report it with the command."

/** Prints what went wrong, once, on standard error. */
const report = (given: Run) => (cause: Cause.Cause<unknown>) =>
  Cause.isInterruptedOnly(cause)
    ? Effect.void
    : Option.match(Cause.failureOption(cause), {
      onSome: (error) => error instanceof Ended ? Effect.void : note(visible(messageOf(error, given))),
      onNone: () => note(defectOf(Cause.squash(cause)))
    })

/** What few commands use is loaded by them. */
const loaded = <Module, A, E, R>(load: () => Promise<Module>, use: (module: Module) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.promise(load), use)

const main = (given: Run) => {
  switch (given.name) {
    case "token":
      return token(given)
    case "doctor":
      return loaded(() => import("./commands/doctor.ts"), ({ doctor }) => doctor(given))
    case "compare":
      return loaded(() => import("./commands/compare.ts"), ({ compare }) => compare(given))
    case "call":
      return loaded(() => import("./commands/call.ts"), ({ call }) => call(given))
    case "exec":
      return exec(given)
    case "status":
      return loaded(() => import("./commands/status.ts"), ({ status }) => status(given))
  }
}

const logger = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ logLevel, message }) => {
    // an error is the failure of the command, which is printed anyway
    if (logLevel === LogLevel.Warning) unsafeNote(visible(`warning: ${String(message)}`))
  })
)

/** Runs a command to its end, and exits with its code. */
export const run = (given: Run): Promise<void> =>
  new Promise((resolve) =>
    Effect.suspend(() => main(given)).pipe(
      Effect.tapErrorCause(report(given)),
      Effect.provide(Layer.merge(logger, Logger.minimumLogLevel(LogLevel.Warning))),
      NodeRuntime.runMain({
        disableErrorReporting: true,
        disablePrettyLogger: true,
        teardown: (exit, onExit) => {
          onExit(last.code ?? ofExit(exit))
          resolve()
        }
      })
    )
  )
