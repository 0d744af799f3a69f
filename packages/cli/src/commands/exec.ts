import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { spawn } from "node:child_process"
import { constants } from "node:os"
import type { Invocation } from "../commandLine/commands.ts"
import { Ended, type Failure, wrongUsage } from "../failure.ts"
import * as Supply from "../supply.ts"
import { variable } from "../tokenText.ts"

/** The exit code of the program, once it has exited. A signal interrupts this process too, but the program decides. */
export const last: { code?: number } = {}

/** A shell reports a program that was ended by a signal with this code plus the signal's number. */
const signalBase = 128

/** The names of variables with the secret: on Windows, they have no case, and people keep an old secret under a similar name. */
const ofSecret = /credit_?data_?client_?secret/i

/** The program gets the token instead of the secret. */
const environmentWith = (token: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofSecret.test(name.replaceAll("-", "_")))),
  [variable]: token
})

/** A terminal sends SIGINT to both processes, and everything else sends its signals to this one only. */
const passedOn = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const

/** Runs a program until it exits. */
const run = (program: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv) => {
  const notStarted = Effect.fail(wrongUsage(`The program cannot be started: ${program}`))
  return Effect.async<number, Failure>((resume) => {
    const passOn = (signal: NodeJS.Signals) => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
    }
    const end = (outcome: Effect.Effect<number, Failure>) => {
      for (const signal of passedOn) process.off(signal, passOn)
      resume(outcome)
    }
    // before the program runs, because a signal can come at once
    for (const signal of passedOn) process.on(signal, passOn)
    const child = spawn(program, args, { stdio: "inherit", env })
    child.on("error", () => child.pid === undefined && end(notStarted))
    child.on("exit", (code, signal) => {
      last.code = signal === null ? code ?? 0 : signalBase + constants.signals[signal]
      end(Effect.succeed(last.code))
    })
  }).pipe(
    // for some programs, `spawn` throws
    Effect.catchAllDefect(() => notStarted),
    Effect.uninterruptible
  )
}

export const exec = ({ operands: [program = "", ...args], options }: Invocation<"exec">) =>
  Effect.gen(function*() {
    const { secret } = yield* Supply.covering(options)
    const code = yield* run(program, args, environmentWith(Redacted.value(secret)))
    if (code !== 0) return yield* new Ended({ code })
  }).pipe(Effect.provide(Supply.layer(options)))
