// Collects every example in the docs, those of the docstrings and those of the Markdown files, as modules to be compiled.

import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"

const snippetsIn = (file: string, text: string) => {
  const plain = file.endsWith(".md") ? text : text.replace(/^ *\* ?/gm, "")
  return [...plain.matchAll(/^( *)```ts\n([\s\S]*?)^\1```$/gm)].flatMap(([, , code]) => code ?? [])
}

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(import.meta.dirname, "../../..")
  const target = path.join(root, "packages/integration/.snippets")
  yield* fs.remove(target, { recursive: true, force: true })
  yield* fs.makeDirectory(target)

  const files = (yield* fs.readDirectory(path.join(root, "packages"), { recursive: true }))
    .filter((file) => /^[\w-]+\/(src\/.*\.ts|[^/]*\.md)$/.test(file))
    .map((file) => path.join("packages", file))
    .concat((yield* fs.readDirectory(root)).filter((file) => file.endsWith(".md")))

  let count = 0
  for (const file of files) {
    for (const code of snippetsIn(file, yield* fs.readFileString(path.join(root, file)))) {
      yield* fs.writeFileString(path.join(target, `${file.replaceAll(/\W/g, "-")}-${++count}.ts`), code)
    }
  }
  yield* fs.writeFileString(
    path.join(target, "tsconfig.json"),
    JSON.stringify({ extends: "../../../tsconfig.json", include: ["*.ts"] })
  )
  yield* Console.log(`${count} examples in the docs`)
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)
