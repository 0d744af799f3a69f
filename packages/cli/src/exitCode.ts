import { isTokenError, type TokenError } from "@credit-data/core/TokenError"
import * as ValidationError from "@effect/cli/ValidationError"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as Cause from "effect/Cause"
import * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"

/** The exit codes of the command. Scripts rely on them. */
export const exitCode = {
  success: 0,
  problem: 1,
  usage: 2,
  refused: 3,
  unavailable: 4,
  invalidAnswer: 5,
  scopeMissing: 6,
  status: 22,
  defect: 70,
  /** The number of `EX_IOERR` in sysexits.h. */
  output: 74,
  interrupted: 130
} as const

/** The failure of a command. The message contains what to do. */
export class Failure extends Data.TaggedError("Failure")<{ readonly code: number; readonly message: string }> {}

/** Ends the command with this code. It has printed everything itself. */
export class Ended extends Data.TaggedError("Ended")<{ readonly code: number }> {}

export const ofTokenError = (error: TokenError): number => {
  switch (error._tag) {
    case "InvalidClient":
      return exitCode.refused
    case "InvalidResponse":
      return exitCode.invalidAnswer
    case "ServerError":
      return error.retryable ? exitCode.unavailable : exitCode.invalidAnswer
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
  if (ValidationError.isValidationError(error) || ConfigError.isConfigError(error)) return exitCode.usage
  return exitCode.defect
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
