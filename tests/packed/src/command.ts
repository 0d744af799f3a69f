import { Simulator } from "@credit-data/simulator"
import { freePorts } from "@credit-data/test-support/freePorts"
import { Path } from "@effect/platform"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { CommandFailed, run } from "@credit-data/tools/run"

const licences = "package/dist/THIRD-PARTY-NOTICES.txt"
const expected = /^package\/(package\.json|README\.md|LICENSE|dist\/[\w-]+\.js|dist\/THIRD-PARTY-NOTICES\.txt)$/

/** Fails if the tarball of the command has other files than its bundle. */
export const checkBundle = Effect.fnUntraced(function*(tarball: string) {
  const files = (yield* run(".", "tar", "-tzf", tarball)).trim().split("\n")
  const surplus = files.filter((file) => !expected.test(file))
  const missing = ["package/LICENSE", "package/dist/credit-data.js", licences].filter((file) => !files.includes(file))
  if (surplus.length + missing.length > 0) {
    return yield* Effect.fail(
      new CommandFailed(`${tarball}: surplus ${surplus.join(" ")}, missing ${missing.join(" ")}`)
    )
  }
  const text = yield* run(".", "tar", "-xOzf", tarball, licences)
  for (const name of ["effect", "@effect/platform-node", "undici"]) {
    if (!new RegExp(`^${name} \\d`, "m").test(text)) {
      return yield* Effect.fail(new CommandFailed(`${tarball}: no licence of ${name}`))
    }
  }
})

const ofService =
  /^package\/dist\/(effect-[34]|promise)\/(package\.json|tsconfig(\.build)?\.json|README\.md|gitignore|Dockerfile|\.dockerignore|\.env\.example|src\/\w+\.ts|test\/(service\.test|start)\.ts)$/

/** Fails if the tarball of `create-credit-data` has other files than its bundle and a service for each version of Effect. */
export const checkServices = Effect.fnUntraced(function*(tarball: string) {
  const files = (yield* run(".", "tar", "-tzf", tarball)).trim().split("\n")
  const own = ["package.json", "README.md", "LICENSE", "dist/create-credit-data.js"].map((file) => `package/${file}`)
  const surplus = files.filter((file) => !own.includes(file) && !ofService.test(file))
  const needed = ["effect-3", "effect-4", "promise"].flatMap((kind) =>
    ["package.json", "gitignore", "Dockerfile", ".dockerignore", ".env.example", "src/main.ts"].map((file) =>
      `package/dist/${kind}/${file}`
    )
  )
  const missing = [...own, ...needed].filter((file) => !files.includes(file))
  if (surplus.length + missing.length > 0) {
    return yield* Effect.fail(
      new CommandFailed(`${tarball}: surplus ${surplus.join(" ")}, missing ${missing.join(" ")}`)
    )
  }
})

/** Installs the command in a folder. Returns its file. */
export const install = Effect.fnUntraced(function*(tarball: string, folder: string) {
  const path = yield* Path.Path
  yield* run(folder, "npm", "install", "--no-audit", "--no-fund", tarball)
  return path.join(folder, "node_modules/@credit-data/cli/dist/credit-data.js")
})

type Program = readonly [string, ...ReadonlyArray<string>]

/** Starts the simulator with this program. Returns the variables that it prints. */
export const simulator = ([program, ...args]: Program) =>
  Effect.flatMap(freePorts(4), (port) =>
    Effect.acquireRelease(
      Effect.async<{ readonly stop: () => void; readonly variables: Record<string, string> }, CommandFailed>(
        (resume) => {
          const variables: Record<string, string> = { SIMULATOR_PORT: String(port) }
          const child = spawn(program, args, {
            env: { ...process.env, ...variables },
            stdio: ["ignore", "pipe", "inherit"],
            detached: true
          })
          child.once("exit", (code) => resume(Effect.fail(new CommandFailed(`The simulator exited with ${code}`))))
          createInterface({ input: child.stdout }).on("line", (line) => {
            const [, name, value] = /^ +export (\w+)='(.*)'$/.exec(line) ?? []
            if (name !== undefined && value !== undefined) variables[name] = value
            // npx and its child belong to one group of processes
            const stop = () => child.pid !== undefined && process.kill(-child.pid)
            if (line.startsWith("A call with")) resume(Effect.succeed({ stop, variables }))
          })
        }
      ),
      ({ stop }) => Effect.sync(stop)
    )).pipe(Effect.map(({ variables }) => variables))

/** Gets a token with the command and these variables. */
export const getToken = (command: Program, variables: Record<string, string>) =>
  Effect.gen(function*() {
    const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
    const printed = yield* run(".", "env", ...assignments, ...command, "token")
    if (!/^simulated\.V2\.1\.\w+\n$/.test(printed)) {
      return yield* Effect.fail(new CommandFailed(`credit-data token printed ${printed}`))
    }
  })

/** Gets a token from a simulator, with the bundle. */
export const getSimulatedToken = (runtime: Program, command: string) =>
  Effect.flatMap(Simulator.variables, (variables) => getToken([...runtime, command], variables)).pipe(
    Effect.provide(Simulator.layer())
  )
