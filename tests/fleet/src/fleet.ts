import { bundle } from "@credit-data/test-support/bundle"
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { CommandResult, Call, Command, Delay } from "./protocol.ts"

const program = fileURLToPath(new URL("worker.ts", import.meta.url))

/** A real process. */
export interface Worker {
  readonly ask: (command: Command) => Effect.Effect<CommandResult>
  readonly signal: (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT") => Effect.Effect<void>
}

/** Starts a process. It ends with this one. */
export const startWorker = (
  onCall: (call: Call) => void = () => {},
  onDelay: (delay: Delay) => void = () => {}
): Effect.Effect<Worker & { readonly child: ChildProcess }> =>
  Effect.async((resume) => {
    const child = spawn(process.execPath, ["--expose-gc", bundle(program)], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { PATH: process.env["PATH"] }
    })
    const waiting: Array<(result: CommandResult) => void> = []
    let isReady = false
    const worker = {
      child,
      ask: (command: Command) =>
        Effect.async<CommandResult>((resume) => {
          waiting.push((result) => resume(Effect.succeed(result)))
          child.stdin.write(`${JSON.stringify(command)}\n`)
        }),
      signal: (signal: NodeJS.Signals) => Effect.sync(() => void child.kill(signal))
    }
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!isReady) {
        isReady = true
        return resume(Effect.succeed(worker))
      }
      const result: CommandResult & { readonly call?: Call; readonly delay?: Delay } = JSON.parse(line)
      if (result.call !== undefined) onCall(result.call)
      else if (result.delay !== undefined) onDelay(result.delay)
      else waiting.shift()?.(result)
    })
  })

/** Starts this many processes, which end with the scope. */
export const startWorkers = (size: number) =>
  Effect.forEach(
    Array.from({ length: size }),
    () =>
      Effect.acquireRelease(startWorker(), ({ child }) =>
        Effect.sync(() => {
          child.kill("SIGCONT")
          child.kill("SIGKILL")
        })),
    { concurrency: 4 }
  )

/** Gives all processes a command at the same time. */
export const askAll = (workers: ReadonlyArray<Worker>, command: Command | ((index: number) => Command)) =>
  Effect.forEach(
    workers,
    ({ ask }, index) => ask(typeof command === "function" ? command(index) : command),
    { concurrency: "unbounded" }
  )
