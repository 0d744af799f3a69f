// Writes the lists of packages that TypeScript needs: the project references, from the dependencies in each package.json. With
// `--check` it writes nothing and exits with 1 if a list is stale.

import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Schema } from "effect"
import { manifest, published, root } from "./packages.ts"

const isCheck = process.argv.includes("--check")

const TsConfig = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }), { space: 2 })

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const top = yield* root
  const packages = yield* published
  const built = [...packages, yield* manifest("examples")]

  const expected = [
    { file: "tsconfig.build.json", folders: built.map(({ folder }) => folder) },
    ...built.map(({ dependencies, folder }) => ({
      file: `${folder}/tsconfig.json`,
      folders: packages.filter(({ name }) => dependencies.includes(name)).map((other) => other.folder)
    }))
  ]
  const stale = yield* Effect.filter(
    expected,
    Effect.fnUntraced(function*({ file, folders }) {
      const place = path.join(top, file)
      const { references: before = [], ...config } = yield* Effect.flatMap(
        fs.readFileString(place),
        Schema.decode(TsConfig)
      )
      const from = path.dirname(file)
      const references = folders.map((folder) => ({ path: path.relative(from, folder).replaceAll("\\", "/") }))
      const isStale = JSON.stringify(before) !== JSON.stringify(references)
      if (isStale && !isCheck) {
        const text = yield* Schema.encode(TsConfig)({ ...config, references })
        yield* fs.writeFileString(place, `${text}\n`)
      }
      return isStale
    })
  )
  const files = stale.map(({ file }) => file).join(", ")
  if (isCheck && stale.length > 0) {
    yield* Console.error(`Stale project references in ${files}. Run: npx -y pnpm@10.34.9 run write:tsconfigs`)
    return yield* Effect.sync(() => {
      process.exitCode = 1
    })
  }
  yield* Console.log(stale.length === 0 ? "The project references are up to date." : `Wrote ${files}.`)
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)
