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

/** Makes a project with a small program, installs the packages from their tarballs with npm or pnpm, and checks the types. */
export const makeProject = Effect.fnUntraced(function*(
  line: Line,
  folder: string,
  tarballs: Tarballs,
  manager: "npm" | "pnpm",
  versions: Versions
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const packed = Object.fromEntries(Object.entries(tarballs).map(([name, file]) => [name, `file:${file}`]))
  const manifest = {
    name: "a-program",
    private: true,
    type: "module",
    dependencies: { ...packed, ...versions },
    devDependencies: types,
    // the packages depend on each other by version, and those versions are not in the registry
    pnpm: { overrides: packed }
  }
  yield* fs.copy(line.project, folder)
  yield* fs.writeFileString(path.join(folder, "package.json"), JSON.stringify(manifest))
  yield* manager === "npm"
    ? run(folder, "npm", "install", "--no-audit", "--no-fund")
    : run(folder, "npx", "-y", "pnpm@10.34.9", "install", "--no-frozen-lockfile")
  yield* run(folder, path.join(folder, "node_modules/.bin/tsc"))
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
