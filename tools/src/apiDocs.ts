// Writes the API reference of every library from its docstrings, for Effect 3 and Effect 4, and compiles and runs their examples.

import { run } from "@credit-data/test-support/childProcess"
import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { libraries, root, sourcePaths } from "./packages.ts"

const exclude = ["src/internal/**/*.ts", "src/bin.ts", "src/index.ts", "src/Internal.ts"]

const examplesCompilerOptions = {
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  module: "ESNext",
  moduleResolution: "Bundler",
  target: "ES2022",
  lib: ["ES2023", "ES2024.String", "DOM", "DOM.Iterable"],
  types: ["node"],
  allowImportingTsExtensions: true
}

const pagesOf = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files = yield* fs.readDirectory(folder, { recursive: true })
  return files.filter((file) => file.endsWith(".md")).map((file) => path.join(folder, file))
})

/** The formatter that docgen uses writes the first line of the front matter as a rule in Markdown. */
const withFrontMatter = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  const page = (yield* fs.readFileString(file)).replace(/^\*\*\*\n+/, "---\n")
  if (!/^---\n(?:\w+: .+\n)+---\n/.test(page)) return yield* Effect.dieMessage(`${file} has no front matter`)
  yield* fs.writeFileString(file, page)
})

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const repository = yield* root
  const bin = path.join(repository, "node_modules/.bin")

  const write = (top: string) => ({ folder, name }: Effect.Effect.Success<typeof libraries>[number]) =>
    Effect.gen(function*() {
      // the examples of a package may import every other package, even if it does not depend on it
      const paths = yield* sourcePaths(top)
      const settings = { exclude, examplesCompilerOptions: { ...examplesCompilerOptions, paths } }
      // docgen takes its settings from this file only
      const file = path.join(top, folder, "docgen.json")
      const { exitCode, stderr, stdout } = yield* Effect.acquireUseRelease(
        fs.writeFileString(file, JSON.stringify(settings)),
        () =>
          run([path.join(bin, "docgen")], {
            cwd: path.join(top, folder),
            // docgen starts tsc and tsx by their names
            env: { PATH: `${bin}${path.sep === "/" ? ":" : ";"}${process.env["PATH"] ?? ""}` }
          }),
        () => Effect.orDie(fs.remove(file))
      )
      if (exitCode !== 0) {
        yield* Console.error(`${name}\n${stdout}\n${stderr}`)
        return yield* Effect.sync(() => {
          process.exitCode = 1
        })
      }
      yield* Effect.forEach(yield* pagesOf(path.join(top, folder, "docs")), withFrontMatter)
      yield* Console.log(`${name}: ${/\d+ example\(s\)/.exec(stdout)?.[0] ?? "no examples"}`)
    })
  for (const top of [repository, path.join(repository, "effect-4/generated")]) {
    yield* Effect.forEach(yield* libraries, write(top), { concurrency: 2 })
  }
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)
