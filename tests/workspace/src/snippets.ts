// Collects every example in the Markdown files as a module to be compiled. Those of the docstrings are compiled with the reference.

import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { root, sourcePaths } from "./packages.ts"

const snippetsIn = (text: string) =>
  [...text.matchAll(/^( *)```ts\n([\s\S]*?)^\1```$/gm)].flatMap(([, , code]) => code ?? [])

/** The folders whose Markdown files are ours. */
const rooms = [".", "packages", "docs", "tests", "benchmarks", "examples"]

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const top = yield* root
  const target = path.join(top, "tests/workspace/.snippets")
  yield* fs.remove(target, { recursive: true, force: true })
  yield* fs.makeDirectory(target)

  let count = 0
  for (const room of rooms) {
    const files = (yield* fs.readDirectory(path.join(top, room), { recursive: room !== "." }))
      .filter((file) => file.endsWith(".md") && !/(^|[\\/])(node_modules|dist|\.[\w-]+)[\\/]/.test(file))
      // the generated reference
      .filter((file) => room !== "packages" || !/^[\w-]+[\\/]docs[\\/]/.test(file))
    for (const file of files) {
      for (const code of snippetsIn(yield* fs.readFileString(path.join(top, room, file)))) {
        yield* fs.writeFileString(path.join(target, `${`${room}/${file}`.replaceAll(/\W+/g, "-")}-${++count}.ts`), code)
      }
    }
  }
  yield* fs.writeFileString(
    path.join(target, "tsconfig.json"),
    JSON.stringify({
      extends: "../../../tsconfig.json",
      compilerOptions: { paths: yield* sourcePaths },
      include: ["*.ts"]
    })
  )
  yield* Console.log(`${count} examples in the Markdown files`)
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)
