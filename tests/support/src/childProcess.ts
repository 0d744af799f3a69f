import { Effect } from "effect"
import { spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { bundle } from "./bundle.ts"

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: ReadonlyArray<string>]

interface Settings {
  readonly cwd?: string
  /** Beside the variables of this process. */
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

/** The exit code of a process, and what it printed. */
export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The exit code of `runMain` after SIGINT or SIGTERM. */
export const interruptedExitCode = 0

/** A command that runs a TypeScript program. */
export const script = (file: string, ...args: ReadonlyArray<string>): Command => [
  process.execPath,
  bundle(file),
  ...args
]

/** Reads all of a stream: a process blocks when a pipe that is not read is full. */
const collect = (stream: Readable) => {
  let text = ""
  stream.setEncoding("utf8").on("data", (part: string) => {
    text += part
  })
  return () => text
}

/** Starts a command as a child process, which prints without colours and ends when the scope is closed. */
export const start = Effect.fnUntraced(function*([program, ...args]: Command, { cwd, env, input }: Settings = {}) {
  const { FORCE_COLOR: _, ...inherited } = process.env
  const child = spawn(program, args, { cwd, env: { ...inherited, NO_COLOR: "1", ...env }, detached: true })
  const stdout = collect(child.stdout)
  const stderr = collect(child.stderr)
  const ending = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject).once("close", (exitCode) => {
      resolve({ exitCode, stdout: stdout(), stderr: stderr() })
    })
  })
  /** Waits until the process exits. */
  const end = Effect.promise(() => ending)
  /** Sends a signal to the process and those that it has started, and waits until it exits. */
  const kill = (signal: NodeJS.Signals) =>
    Effect.suspend(() => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
        process.kill(-child.pid, signal)
      }
      return end
    })
  yield* Effect.addFinalizer(() => Effect.exit(kill("SIGTERM")))
  child.stdin.end(input)
  return {
    end,
    kill,
    /** Waits until the output has this part, or until the process exits, and returns the output. */
    printed: (part: string) =>
      Effect.raceFirst(
        Effect.async<string>((resume) => {
          const look = () => {
            if (stdout().includes(part)) resume(Effect.succeed(stdout()))
          }
          child.stdout.on("data", look)
          look()
        }),
        Effect.map(end, ({ stdout }) => stdout)
      )
  }
})

/** Runs a command until it exits. */
export const run = (command: Command, settings?: Settings) =>
  Effect.scoped(Effect.flatMap(start(command, settings), ({ end }) => end))
