import { FileSystem, Path } from "@effect/platform"
import { Effect } from "effect"
import { CommandFailed, run } from "@credit-data/tools/run"
import { peerRanges, type Tarballs } from "@credit-data/tools/pack"
import type { Line, Versions } from "./lines.ts"

/** The expected output of the program on every runtime. */
const printed = [
  "200 200 Valid token requests: 1",
  "200 200 Valid token requests: 1",
  "InvalidClient true",
  "files token requests: 1",
  "Redis token requests: 1"
]

/** The ranges of all peers. pnpm installs the highest version of each range. */
export const highest = (line: Line, tarballs: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(tarballs, peerRanges),
    (ranges): Versions => Object.assign({}, ...ranges, line.askedFor)
  )

/** Fails if the lowest version of a peer that a tarball accepts is not the lowest version that is tested. */
export const checkLowest = Effect.fnUntraced(function*(line: Line, tarball: string) {
  for (const [name, range] of Object.entries(yield* peerRanges(tarball))) {
    if (/^(?:\^|~|>=)(\d+\.\d+\.\d+)(?= <| \|\||$)/.exec(range)?.[1] !== line.lowest[name]) {
      return yield* Effect.fail(
        new CommandFailed(
          `${tarball} accepts ${name} ${range}, but the lowest version tested is ${line.lowest[name]}. ` +
            "Change the catalog of peers or tests/packed/src/lines.ts, so that both start at the same version."
        )
      )
    }
  }
})

// The types of @effect/platform-node need @types/ws but do not depend on it.
const types = { typescript: "7.0.2", "@types/node": "20.19.43", "@types/ws": "8" }

/** Copies the small program into a folder, and installs the packages in the manifest. */
const writeProject = Effect.fnUntraced(function*(line: Line, folder: string, manifest: object) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.copy(line.project, folder)
  yield* fs.writeFileString(
    path.join(folder, "package.json"),
    JSON.stringify({ name: "a-program", private: true, type: "module", devDependencies: types, ...manifest })
  )
})

const checkTypes = Effect.fnUntraced(function*(folder: string) {
  const path = yield* Path.Path
  yield* run(folder, path.join(folder, "node_modules/.bin/tsc"))
})

/** Makes the project with npm from a registry that has the packages, and checks the types. */
export const makeProjectFrom = Effect.fnUntraced(function*(
  line: Line,
  folder: string,
  { registry, versions }: { readonly registry: string; readonly versions: Versions }
) {
  yield* writeProject(line, folder, { dependencies: { ...versions, ...line.lowest } })
  yield* run(folder, "npm", "install", "--no-audit", "--no-fund", `--@credit-data:registry=${registry}`)
  yield* checkTypes(folder)
})

/** Makes a project with a small program, installs the packages from their tarballs with npm or pnpm, and checks the types. */
export const makeProject = Effect.fnUntraced(function*(
  line: Line,
  folder: string,
  tarballs: Tarballs,
  manager: "npm" | "pnpm",
  versions: Versions
) {
  const packed = Object.fromEntries(Object.entries(tarballs).map(([name, file]) => [name, `file:${file}`]))
  yield* writeProject(line, folder, {
    dependencies: { ...packed, ...versions },
    // the packages depend on each other by version, and those versions are not in the registry
    pnpm: { overrides: packed }
  })
  yield* manager === "npm"
    ? run(folder, "npm", "install", "--no-audit", "--no-fund")
    : run(folder, "npx", "-y", "pnpm@10.34.9", "install", "--no-frozen-lockfile")
  yield* checkTypes(folder)
})

/** Runs the program in the project with the address of a Redis, and checks its output. */
export const runProgram = Effect.fnUntraced(
  function*(folder: string, runtime: ReadonlyArray<string>, redis: string, file = "program.js") {
    const [command = "", ...args] = runtime
    const lines = (yield* run(folder, command, ...args, file, redis)).trim().split("\n")
    if (lines.join("\n") !== printed.join("\n")) {
      return yield* Effect.fail(new CommandFailed(`${runtime.join(" ")} printed\n${lines.join("\n")}`))
    }
  }
)
