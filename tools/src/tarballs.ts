// Packs every package into one folder, and prints the command that installs all of them in a program.

import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { pack } from "./pack.ts"

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(import.meta.dirname, "../..")
  const folder = path.join(root, "tarballs")
  yield* fs.remove(folder, { recursive: true, force: true })
  yield* fs.makeDirectory(folder)
  const tarballs = yield* pack(path.join(root, "packages"), folder)
  const quoted = Object.values(tarballs).map((file) => /[^\w./:\\@-]/.test(file) ? `"${file}"` : file)
  yield* Console.log(`npm i ${quoted.join(" ")}`)
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)
