// Collects every example in the Markdown files and in the docstrings of the packages as a module to be compiled. Those in docstrings also
// run when the reference is written.

import { type Error as PlatformError, FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { root, sourcePaths } from "./packages.ts"

const snippetsIn = (text: string) =>
  [...text.matchAll(/^( *(?:\* )?)```ts\n([\s\S]*?)^\1```$/gm)].map(([, margin = "", code = ""]) =>
    margin.includes("*") ? code.replaceAll(/^ *\* ?/gm, "") : code
  )

/** The folders whose Markdown files are ours. */
const rooms = ["packages", "docs", "tests", "tools", "benchmarks", "examples"]

/** What was installed, built or generated. What is installed has links that lead in circles. */
const isForeign = (name: string) => name === "node_modules" || name === "dist" || name.startsWith(".")

/** The files with examples in a folder, by their paths: Markdown, and the sources of packages. */
const filesIn = (
  folder: string
): Effect.Effect<ReadonlyArray<string>, PlatformError.PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const names = (yield* fs.readDirectory(folder)).filter((name) => !isForeign(name))
    const found = yield* Effect.forEach(names, (name) =>
      Effect.gen(function*() {
        const path = `${folder}/${name}`
        if ((yield* fs.stat(path)).type === "Directory") return yield* filesIn(path)
        return name.endsWith(".md") || /packages\/[\w-]+\/src\/.*\.ts$/.test(path) ? [path] : []
      }))
    return found.flat()
  })

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const top = yield* root
  const target = path.join(top, "tools/.examples")
  yield* fs.remove(target, { recursive: true, force: true })
  yield* fs.makeDirectory(target)

  let count = 0
  const inRooms = yield* Effect.forEach(rooms, (room) => filesIn(path.join(top, room)))
  const atTop = (yield* fs.readDirectory(top)).filter((name) => name.endsWith(".md")).map((name) => `${top}/${name}`)
  const files = [...atTop, ...inRooms.flat()].map((file) => path.relative(top, file))
    // the generated reference
    .filter((file) => !/^packages[\\/][\w-]+[\\/]docs[\\/]/.test(file))
  for (const file of files) {
    for (const code of snippetsIn(yield* fs.readFileString(path.join(top, file)))) {
      yield* fs.writeFileString(path.join(target, `${file.replaceAll(/\W+/g, "-")}-${++count}.ts`), code)
    }
  }
  yield* fs.writeFileString(
    path.join(target, "tsconfig.json"),
    JSON.stringify({
      extends: "../../tsconfig.json",
      compilerOptions: {
        paths: {
          ...yield* sourcePaths(top),
          ioredis: [path.join(top, "packages/store-redis/node_modules/ioredis/built/index.d.ts")]
        }
      },
      include: ["*.ts"]
    })
  )
  yield* Console.log(`${count} examples in Markdown files and docstrings`)
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)
