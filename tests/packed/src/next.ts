import { Simulator } from "@credit-data/simulator"
import { start } from "@credit-data/test-support/childProcess"
import { freePorts } from "@credit-data/test-support/freePorts"
import { CommandFailed, run } from "@credit-data/tools/run"
import { FileSystem, Path } from "@effect/platform"
import { Effect } from "effect"

const versions = { next: "16.4.6", react: "19.2.0", "react-dom": "19.2.0" }
const types = { typescript: "5.9.3", "@types/node": "20.19.43", "@types/react": "19.2.2" }

/** Builds the example of Next with the packed package, starts it, and calls the API through it. */
export const walkNext = Effect.fnUntraced(
  function*(tarball: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.copy(path.resolve(import.meta.dirname, "../../../examples/next"), folder, { overwrite: true })
    const dependencies = { "@credit-data/promise": `file:${tarball}`, ...versions }
    const manifest = { name: "a-site", private: true, type: "module", dependencies, devDependencies: types }
    yield* fs.writeFileString(path.join(folder, "package.json"), JSON.stringify(manifest))
    yield* run(folder, "npm", "install", "--no-audit", "--no-fund")
    const next = path.join(folder, "node_modules/next/dist/bin/next")
    yield* run(folder, process.execPath, next, "build")

    const port = yield* freePorts(1)
    const env = yield* Simulator.variables
    const site = yield* start([process.execPath, next, "start", "-p", String(port)], { cwd: folder, env })
    yield* site.printed("Ready in")
    const response = yield* Effect.promise(() => fetch(`http://localhost:${port}/consumers/42`))
    const text = yield* Effect.promise(() => response.text())
    if (!text.includes("/data-access/consumers/42")) {
      return yield* Effect.fail(new CommandFailed(`Next responded with ${response.status}: ${text}`))
    }
  },
  Effect.scoped,
  Effect.provide(Simulator.layer())
)
