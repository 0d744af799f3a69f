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
  /** Called when the program has started. */
  readonly started?: (kill: (signal: NodeJS.Signals) => void) => void
}

const base = { PATH: process.env["PATH"] ?? "", HOME: output }

/** Runs a command to its end. Its environment has only these variables. */
export const start = (command: string, args: ReadonlyArray<string>, options: Options = {}): Effect.Effect<Outcome> =>
  Effect.async((resume) => {
    const child = spawn(command, args, { env: { ...base, ...options.variables } })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (chunk) => {
      stdout += chunk
    })
    child.stderr.on("data", (chunk) => {
      stderr += chunk
    })
    child.stdin.on("error", () => {})
    child.stdin.end(options.input ?? "")
    child.on("close", (code) => resume(Effect.succeed({ code, stdout, stderr })))
    options.started?.((signal) => child.kill(signal))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** Runs the program with the variables of the simulator. */
export const run = (args: ReadonlyArray<string>, options: Options = {}) =>
  Effect.flatMap(
    Simulator.variables,
    (variables) =>
      start(process.execPath, [program, ...args], { ...options, variables: { ...variables, ...options.variables } })
  )

/** Runs the program on a terminal of 80 columns. Both outputs arrive together. */
export const onTerminal = (args: ReadonlyArray<string>, options: Options = {}) =>
  Effect.flatMap(
    Simulator.variables,
    (variables) =>
      start("script", ["-qec", [process.execPath, program, ...args].join(" "), "/dev/null"], {
        variables: { TERM: "xterm", ...variables, ...options.variables }
      })
  )

/** A folder that is removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "credit-data-test-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
