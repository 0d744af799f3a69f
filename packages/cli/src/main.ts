#!/usr/bin/env node
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as Span from "@effect/cli/HelpDoc/Span"
import * as ValidationError from "@effect/cli/ValidationError"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import { argumentsOf } from "./arguments.ts"
import { call } from "./commands/call.ts"
import { compare } from "./commands/compare.ts"
import { doctor } from "./commands/doctor.ts"
import { exec, last } from "./commands/exec.ts"
import { simulator } from "./commands/simulator.ts"
import { status } from "./commands/status.ts"
import { token } from "./commands/token.ts"
import { Ended, exitCode, ofExit } from "./exitCode.ts"
import { help } from "./help.ts"
import { withOwnConsole } from "./parserConsole.ts"
import { answer, note, unsafeNote } from "./terminal.ts"
import { version } from "./version.ts"

const root = Command.make("credit-data").pipe(
  Command.withDescription("Access tokens for the credit-data API, from the command line"),
  Command.withSubcommands([token, doctor, compare, call, exec, status, simulator])
)

const run = Command.run(root, {
  name: "credit-data",
  executable: "credit-data",
  version,
  summary: Span.text("access tokens for the credit-data API")
})

const messageOf = (error: unknown): string =>
  error instanceof Error && error.message !== "" ? error.message : String(error)

/** Prints what went wrong, once, on standard error. */
const report = (cause: Cause.Cause<unknown>) => {
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  return Option.match(Cause.failureOption(cause), {
    // the parser has printed it already
    onSome: (error) =>
      ValidationError.isValidationError(error) || error instanceof Ended ? Effect.void : note(messageOf(error)),
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

/** A reader that ends early, such as `head`, is no failure, so the command goes on and keeps its exit code. */
const isClosed = ({ code }: NodeJS.ErrnoException) => code === "EPIPE" || code === "ERR_STREAM_DESTROYED"

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (isClosed(error)) return
  unsafeNote(`The output cannot be written: ${error.code ?? error.name}.`)
  process.exit(exitCode.output)
})
// without a place for messages, the exit code is all that is left
process.stderr.on("error", () => {})

const [, , ...own] = process.argv
const isHelp = own.length === 0 || (own.length === 1 && (own[0] === "--help" || own[0] === "-h"))
const main = isHelp ? answer(help.trimEnd()) : Effect.flatMap(argumentsOf(process.argv), run)

main.pipe(
  withOwnConsole,
  Effect.tapErrorCause(report),
  Effect.provide(Layer.mergeAll(
    NodeContext.layer,
    CliConfig.layer({ showBuiltIns: false, showTypes: false }),
    Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ logLevel, message }) => {
        // an error is the failure of the command, which is printed anyway
        if (logLevel === LogLevel.Warning) unsafeNote(`warning: ${String(message)}`)
      })
    ),
    Logger.minimumLogLevel(LogLevel.Warning)
  )),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, onExit) => onExit(last.code ?? ofExit(exit))
  })
)
