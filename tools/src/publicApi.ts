// Writes everything that each library package exports, with its signature, to its file `api.txt`. It reads the declarations that
// `tsc -b` wrote. With `--check` it writes nothing and exits with 1 if a file is stale.

import { Lang, parse } from "@ast-grep/napi"
import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { libraries, root } from "./packages.ts"

const isCheck = process.argv.includes("--check")

/** A declaration file without its comments. */
const signatures = (text: string): string => {
  const tree = parse(Lang.TypeScript, text).root()
  const edits = tree.findAll({ rule: { kind: "comment" } }).map((comment) => comment.replace(""))
  return tree.commitEdits(edits).split("\n").filter((line) => line.trim() !== "").join("\n")
}

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const top = yield* root
  const stale = yield* Effect.filter(
    yield* libraries,
    Effect.fnUntraced(function*({ folder, name }) {
      const files = yield* fs.readDirectory(path.join(top, folder, "src"))
      const modules = files.filter((file) => /^[A-Z]\w*\.ts$/.test(file) && file !== "Internal.ts").map((file) =>
        path.basename(file, ".ts")
      )
        .toSorted()
      const parts = yield* Effect.forEach(modules, (module) =>
        Effect.map(
          fs.readFileString(path.join(top, folder, "dist", `${module}.d.ts`)),
          (text) => `==== ${name}/${module}\n\n${signatures(text)}\n`
        ))
      const expected = parts.join("\n")
      const place = path.join(top, folder, "api.txt")
      const isStale = (yield* Effect.orElseSucceed(fs.readFileString(place), () => "")) !== expected
      if (isStale && !isCheck) yield* fs.writeFileString(place, expected)
      return isStale
    })
  )
  const names = stale.map(({ name }) => name).join(", ")
  if (isCheck && stale.length > 0) {
    yield* Console.error(`The public API changed in ${names}. Run, and review: npx -y pnpm@10.34.9 run write:api`)
    return yield* Effect.sync(() => {
      process.exitCode = 1
    })
  }
  yield* Console.log(
    stale.length === 0 ? "The lists of the public API are up to date." : `Wrote the public API of ${names}.`
  )
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)
