import { Simulator } from "@credit-data/simulator"
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"

const folder = fileURLToPath(new URL("../..", import.meta.url))
const output = mkdtempSync(join(process.env["TEST_RUN_FOLDER"] ?? tmpdir(), "credit-data-cli-"))

// the command that builds the published program, into another folder
const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(folder, "package.json"), "utf8")
)
execFileSync("sh", ["-c", (scripts["bundle"] ?? "").replace("--outdir=dist", `--outdir=${output} --log-level=error`)], {
  cwd: folder,
  env: { ...process.env, PATH: `${join(folder, "node_modules/.bin")}:${process.env["PATH"]}` }
})

export const program = join(output, "credit-data.js")

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Options {
  readonly variables?: Record<string, string>
  readonly input?: string
  /** Called when the program has started, and each time it has printed. */
  readonly observe?: (stdout: string, kill: (signal: NodeJS.Signals) => void) => void
}

const base = { PATH: process.env["PATH"] ?? "", HOME: output }

/** Runs a command to its end. Its environment has only these variables. */
export const start = (command: string, args: ReadonlyArray<string>, options: Options = {}): Effect.Effect<Outcome> =>
  Effect.async((resume) => {
    const child = spawn(command, args, { env: { ...base, ...options.variables } })
    let stdout = ""
    let stderr = ""
    const observed = () => {
      options.observe?.(stdout, (signal) => child.kill(signal))
    }
    child.stdout.on("data", (chunk) => {
      stdout += chunk
      observed()
    })
    child.stderr.on("data", (chunk) => {
      stderr += chunk
    })
    child.stdin.on("error", () => {})
    child.stdin.end(options.input ?? "")
    child.on("close", (code) => resume(Effect.succeed({ code, stdout, stderr })))
    observed()
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** Runs the program in a process of its own. Its environment has only these variables. */
export const startProgram = (args: ReadonlyArray<string>, options: Options = {}) =>
  start(process.execPath, [program, ...args], options)

/** Runs the program in a process of its own, with the variables of the simulator. */
export const runProcess = (args: ReadonlyArray<string>, options: Options = {}) =>
  Effect.flatMap(
    Simulator.variables,
    (variables) => startProgram(args, { ...options, variables: { ...variables, ...options.variables } })
  )

const thread: { worker?: Worker } = {}

// a thread has one environment and one standard output
const oneAtATime = Effect.unsafeMakeSemaphore(1)

/**
 * Runs the program in a thread that has loaded it, which takes a tenth of the time of a process. For what needs no signal, no standard input and no
 * variable that Node reads when it starts. Its environment has only these variables.
 */
export const runWith = (variables: Record<string, string>, args: ReadonlyArray<string>): Effect.Effect<Outcome> =>
  Effect.async<Outcome>((resume) => {
    const worker = thread.worker ??= new Worker(new URL("thread.mjs", import.meta.url), { workerData: program })
    const onMessage = (outcome: Outcome) => ended(Effect.succeed(outcome))
    const onError = (error: unknown) => {
      delete thread.worker
      ended(Effect.die(error))
    }
    const ended = (outcome: Effect.Effect<Outcome>) => {
      worker.off("message", onMessage).off("error", onError).unref()
      resume(outcome)
    }
    worker.on("message", onMessage).on("error", onError).ref()
    worker.postMessage({ args, variables: { ...base, ...variables } })
    return Effect.promise(() => {
      delete thread.worker
      return worker.terminate()
    })
  }).pipe(oneAtATime.withPermits(1))

/** Runs the program in a thread with the variables of the simulator. */
export const run = (args: ReadonlyArray<string>, variables: Record<string, string> = {}) =>
  Effect.flatMap(Simulator.variables, (simulated) => runWith({ ...simulated, ...variables }, args))

/** Runs the program several times in a thread. */
export const runAll = (list: ReadonlyArray<ReadonlyArray<string>>, variables: Record<string, string> = {}) =>
  Effect.forEach(list, (args) => run(args, variables))

/** Runs the program on a terminal, of 80 columns by default. Both outputs arrive together. */
export const onTerminal = (
  args: ReadonlyArray<string>,
  { columns = 80, ...options }: Options & { readonly columns?: number } = {}
) =>
  Effect.flatMap(
    Simulator.variables,
    (variables) =>
      start(
        "script",
        ["-qec", `stty cols ${columns}; ${[process.execPath, program, ...args].join(" ")}`, "/dev/null"],
        {
          ...options,
          variables: { TERM: "xterm", LANG: "C.UTF-8", ...variables, ...options.variables }
        }
      )
  )

/** A folder that is removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "credit-data-test-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Makes every file that the program opens belong to another user: only root can give a file away, and not everywhere. */
export const ofAnotherUser = `data:text/javascript,${
  encodeURIComponent(`
    import fs from "node:fs"
    import { syncBuiltinESMExports } from "node:module"
    const { fstatSync } = fs
    fs.fstatSync = (...args) => Object.assign(fstatSync(...args), { uid: process.getuid() + 1 })
    syncBuiltinESMExports()
  `)
}`
