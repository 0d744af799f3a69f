import { Simulator } from "@credit-data/simulator"
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../..", import.meta.url))
const output = mkdtempSync(join(tmpdir(), "credit-data-cli-"))
process.on("exit", () => rmSync(output, { recursive: true, force: true }))

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

/** Runs the program with the variables of the simulator. */
export const run = (args: ReadonlyArray<string>, options: Options = {}) =>
  Effect.flatMap(
    Simulator.variables,
    (variables) =>
      start(process.execPath, [program, ...args], { ...options, variables: { ...variables, ...options.variables } })
  )

/** Runs the program several times, beside each other. */
export const runAll = (list: ReadonlyArray<ReadonlyArray<string>>, options: Options = {}) =>
  Effect.forEach(list, (args) => run(args, options), { concurrency: 4 })

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
