import { start } from "@credit-data/test-support/childProcess"
import { freePorts } from "@credit-data/test-support/freePorts"
import { temporary } from "@credit-data/tools/pack"
import { CommandFailed, run } from "@credit-data/tools/run"
import { Path } from "@effect/platform"
import { Effect } from "effect"
import { step } from "./step.ts"

/** A program and its arguments, which runs a line of a shell. */
type Shell = readonly [program: string, ...args: ReadonlyArray<string>]

/** Starts a created service, calls it, and ends it as an orchestrator does. */
const useService = Effect.fnUntraced(function*(folder: string, shell: Shell, command: string) {
  const port = yield* freePorts(1)
  const { kill, printed } = yield* start([...shell, command], { cwd: folder, env: { PORT: String(port) } })
  const output = yield* printed("Listening on")
  const statuses = yield* Effect.promise(() =>
    Promise.all(["consumers/42", "health/live", "health/ready"].map(async (path) => {
      const { status } = await fetch(`http://127.0.0.1:${port}/${path}`)
      return status
    }))
  )
  // the output is complete when npm and the service have exited
  const { stderr, stdout } = yield* Effect.timeout(kill("SIGTERM"), "20 seconds")
  if (statuses.join(" ") !== "200 200 200" || stdout.includes("ERROR")) {
    return yield* Effect.fail(new CommandFailed(`${statuses.join(" ")}\n${output}\n${stdout}\n${stderr}`))
  }
}, Effect.scoped)

/** The simulator, which the folder of a service with Promises does not have. */
const simulatorOf = (line: string) =>
  line.includes("--promise") ? "npx -y @credit-data/simulator@effect-3" : "node_modules/.bin/credit-data-simulator"

/** Uses a created service as with a real environment: with the variables of a simulator in its `.env`, and with the command. */
const useVariables = Effect.fnUntraced(function*(folder: string, shell: Shell, simulator: string) {
  const port = yield* freePorts(3)
  const command = `exec ${simulator} --port ${port} --write-env .env`
  const { printed } = yield* start([...shell, command], { cwd: folder })
  yield* printed("is running")
  yield* run(folder, ...shell, "set -a && . ./.env && exec node_modules/.bin/credit-data doctor")
  yield* useService(folder, shell, "npm run serve")
}, Effect.scoped)

/** Creates the services of a page with the registry of this variable. Runs their tests and uses them. */
export const createServices = Effect.fnUntraced(function*(page: string, registry: string) {
  const path = yield* Path.Path
  const creations = Array.from(page.matchAll(/^npm create credit-data .*$/gm), ([line]) => line)
  if (creations.length !== 3) {
    return yield* Effect.fail(new CommandFailed(`Get started creates ${creations.length} services`))
  }
  /** Runs a line of a shell on a version of Node. npm inside of `npx -c` would get the settings of npx. */
  const shellOn = (version: string) =>
    Effect.map(
      run(".", "npx", "-y", `node@${version}`, "-p", "process.execPath"),
      (node): Shell => ["env", `PATH=${path.dirname(node.trim())}:${process.env["PATH"]}`, "bash", "-c"]
    )
  const create = Effect.fnUntraced(function*(line: string, shell: Shell) {
    const folder = yield* temporary
    // npm would run a package of an earlier rehearsal with the same version from its cache
    const cache = `npm_config_cache=${yield* temporary}`
    yield* run(folder, "env", registry, cache, ...shell, line.replace("npm create", "npm create -y"))
    return path.join(folder, "my-service")
  })
  for (const line of creations) {
    const version = /--effect 3|--promise/.test(line) ? "20" : "24"
    const shell = yield* shellOn(version)
    const service = yield* step(`${line}, on Node ${version}`, create(line, shell))
    for (const command of ["npm install", "npm test", "npm run check"]) {
      yield* step(`  ${command}`, run(service, ...shell, command))
    }
    yield* step("  npm start, calls, and SIGTERM", useService(service, shell, "npm start"))
    yield* step(
      "  credit-data doctor, npm run serve, calls, and SIGTERM",
      useVariables(service, shell, simulatorOf(line))
    )
  }
  yield* step(
    "Node 20 is refused without --effect 3",
    Effect.flatMap(shellOn("20"), (shell) => Effect.flip(create("npm create credit-data my-service", shell))).pipe(
      Effect.filterOrFail(({ message }) => message.includes("-- --effect 3"))
    )
  )
})
