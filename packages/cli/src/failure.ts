import { isTokenError, type TokenError } from "@credit-data/core/TokenError"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as Cause from "effect/Cause"
import * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { exitCode } from "./exitCode.ts"

/** The failure of a command. The message contains what to do. */
export class Failure extends Data.TaggedError("Failure")<{ readonly code: number; readonly message: string }> {}

/** What was given to a command cannot be used. */
export const wrongUsage = (message: string): Failure => new Failure({ code: exitCode.usage, message })

/** Ends the command with this code. The command has printed everything. */
export class Ended extends Data.TaggedError("Ended")<{ readonly code: number }> {}

export const ofTokenError = (error: TokenError): number => {
  switch (error._tag) {
    case "InvalidClient":
      return exitCode.refused
    case "InvalidResponse":
      return exitCode.invalidResponse
    case "ServerError":
      return error.retryable ? exitCode.unavailable : exitCode.invalidResponse
    case "TransportError":
      return exitCode.unavailable
  }
}

/** The code for an error of a command. */
const ofError = (error: unknown): number => {
  if (error instanceof Failure || error instanceof Ended) return error.code
  if (isTokenError(error)) return ofTokenError(error)
  if (HttpClientError.isHttpClientError(error)) {
    return error.reason === "InvalidUrl" ? exitCode.usage : exitCode.unavailable
  }
  return ConfigError.isConfigError(error) ? exitCode.usage : exitCode.defect
}

/** The code of the process. */
export const ofExit = (exit: Exit.Exit<unknown, unknown>): number =>
  Exit.match(exit, {
    onSuccess: () => exitCode.success,
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onSome: ofError,
        onNone: () => Cause.isInterruptedOnly(cause) ? exitCode.interrupted : exitCode.defect
      })
  })
