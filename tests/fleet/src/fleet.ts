import { Effect } from "effect"
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { CommandResult, Call, Command } from "./protocol.ts"

/** A real process. */
export interface Worker {
  readonly ask: (command: Command) => Effect.Effect<CommandResult>
  readonly signal: (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT") => Effect.Effect<void>
}

/** The program of a worker in one file, which starts in a fraction of the time that tsx needs. */
export const bundle = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = mkdtempSync(join(tmpdir(), "worker-"))
    const file = join(folder, "worker.mjs")
    await build({
      entryPoints: [new URL("worker.ts", import.meta.url).pathname],
      outfile: file,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "error",
      // CommonJS in the bundle requires the modules of Node
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" }
    })
    return { file, folder }
  }),
  ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Starts a process. It ends with this one. */
export const startWorker = (
  file: string,
  onCall: (call: Call) => void = () => {}
): Effect.Effect<Worker & { readonly child: ChildProcess }> =>
  Effect.async((resume) => {
    const child = spawn(process.execPath, ["--expose-gc", file], {
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
      const result: CommandResult & { readonly call?: Call } = JSON.parse(line)
      if (result.call === undefined) waiting.shift()?.(result)
      else onCall(result.call)
    })
  })

/** Starts this many processes, which end with the scope. */
export const startWorkers = Effect.fnUntraced(function*(size: number) {
  const { file } = yield* bundle
  return yield* Effect.forEach(
    Array.from({ length: size }),
    () =>
      Effect.acquireRelease(startWorker(file), ({ child }) =>
        Effect.sync(() => {
          child.kill("SIGCONT")
          child.kill("SIGKILL")
        })),
    { concurrency: 4 }
  )
})

/** Gives all processes a command at the same time. */
export const askAll = (workers: ReadonlyArray<Worker>, command: Command | ((index: number) => Command)) =>
  Effect.forEach(
    workers,
    ({ ask }, index) => ask(typeof command === "function" ? command(index) : command),
    { concurrency: "unbounded" }
  )
