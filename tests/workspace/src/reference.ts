// Writes the API reference of every published package from its docstrings, and compiles and runs their examples.

import { run } from "@credit-data/test-support/childProcess"
import { Command, FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { published, root } from "./packages.ts"

const excluded = ["src/internal/**/*.ts", "src/bin.ts", "src/index.ts"]

/** The examples of a package may import every other package, also one that it does not depend on. */
const compilerOptions = (names: ReadonlyArray<{ readonly name: string; readonly folder: string }>) => ({
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  module: "ESNext",
  moduleResolution: "Bundler",
  target: "ES2022",
  lib: ["ES2023", "ES2024.String", "DOM", "DOM.Iterable"],
  types: ["node"],
  allowImportingTsExtensions: true,
  paths: Object.fromEntries(names.flatMap(({ folder, name }) => [
    [name, [`../../../../${folder}/src/index.ts`]],
    [`${name}/*`, [`../../../../${folder}/src/*.ts`]]
  ]))
})

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const top = yield* root
  const bin = path.join(top, "node_modules/.bin")
  const packages = yield* published
  const tsconfig = path.join(yield* fs.makeTempDirectoryScoped(), "tsconfig.json")
  yield* fs.writeFileString(tsconfig, JSON.stringify({ compilerOptions: compilerOptions(packages) }))

  for (const { folder, name } of packages) {
    const options = ["--examples-tsconfig-file", tsconfig, ...excluded.flatMap((glob) => ["--exclude", glob])]
    const { exitCode, stderr, stdout } = yield* run(
      Command.make(path.join(bin, "docgen"), ...options).pipe(
        Command.workingDirectory(path.join(top, folder)),
        // docgen starts tsc and tsx by their names
        Command.env({ PATH: `${bin}${process.platform === "win32" ? ";" : ":"}${process.env["PATH"] ?? ""}` })
      )
    )
    if (exitCode !== 0) {
      yield* Console.error(`${name}\n${stdout}\n${stderr}`)
      return yield* Effect.sync(() => {
        process.exitCode = 1
      })
    }
    yield* Console.log(`${name}: ${/\d+ example\(s\) found/.exec(stdout)?.[0] ?? "no examples"}`)
  }
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer), NodeRuntime.runMain)
