import { FileSystem, Path } from "@effect/platform"
import { Effect, Schema } from "effect"

const Manifest = Schema.parseJson(
  Schema.Struct({
    name: Schema.String,
    dependencies: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), {
      default: () => ({})
    })
  })
)

/** The folder of the repository. */
export const root = Effect.map(Path.Path, (path) => path.resolve(import.meta.dirname, "../.."))

/** The name of a package, and the names of the packages that it depends on. */
export const manifest = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { dependencies, name } = yield* Effect.flatMap(
    fs.readFileString(path.join(yield* root, folder, "package.json")),
    Schema.decode(Manifest)
  )
  return { folder, name, dependencies: Object.keys(dependencies) }
})

/** The packages that are published: every folder in `packages`. */
export const published = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* fs.readDirectory(path.join(yield* root, "packages"))
  return yield* Effect.forEach(names.toSorted(), (name) => manifest(`packages/${name}`))
})

/** The published packages that programs import: all but the command line. */
export const libraries = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const top = yield* root
  return yield* Effect.filter(yield* published, ({ folder }) => fs.exists(path.join(top, folder, "src/index.ts")))
})

/** `paths` for TypeScript that lead to the sources of every library, from any folder. They begin in the folder that has `packages`. */
export const sourcePaths = Effect.fnUntraced(function*(top: string) {
  const path = yield* Path.Path
  return Object.fromEntries(
    (yield* libraries).flatMap(({ folder, name }) => [
      [name, [path.join(top, folder, "src/index.ts")]],
      [`${name}/*`, [path.join(top, folder, "src/*.ts")]]
    ])
  )
})
