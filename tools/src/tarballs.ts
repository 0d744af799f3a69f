// Packs what a release publishes: the libraries of both lines, and the command. Writes `tarballs/release.json`, the list for
// tools/release/publish.mjs, and prints the commands that install the packages.

import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { pack, packOne } from "./pack.ts"
import { run } from "./run.ts"

const Manifest = Schema.parseJson(Schema.Struct({ name: Schema.String, version: Schema.String }))

const quoted = (file: string): string => /[^\w./:\\@-]/.test(file) ? `"${file}"` : file

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(import.meta.dirname, "../..")
  const folder = path.join(root, "tarballs")
  yield* fs.remove(folder, { recursive: true, force: true })

  /** Packs one part of a release into its own folder, whose packages get a tag. */
  const part = Effect.fnUntraced(function*<E, R>(
    name: string,
    tag: string,
    packed: (folder: string) => Effect.Effect<ReadonlyArray<string>, E, R>
  ) {
    const into = path.join(folder, name)
    yield* fs.makeDirectory(into, { recursive: true })
    const files = yield* packed(into)
    return yield* Effect.forEach(files, (file) =>
      Effect.gen(function*() {
        const text = yield* run(".", "tar", "-xOzf", file, "package/package.json")
        const { name, version } = yield* Schema.decode(Manifest)(text)
        const digest = createHash("sha512").update(yield* fs.readFile(file)).digest("base64")
        return { name, version, tag, file: path.relative(folder, file), integrity: `sha512-${digest}` }
      }))
  })
  const libraries = (packages: string) => (into: string) => Effect.map(pack(packages, into), Object.values<string>)

  const three = yield* part("effect-3", "effect-3", libraries(path.join(root, "packages")))
  // it brings its own Effect, so there is one command for both lines
  const command = yield* part(
    "command",
    "latest",
    (into) => Effect.map(packOne(path.join(root, "packages/cli"), into), (file) => [file])
  )
  const four = yield* part("effect-4", "latest", libraries(path.join(root, "effect-4/generated/packages")))
  const all = [...three, ...four, ...command]
  yield* fs.writeFileString(path.join(folder, "release.json"), `${JSON.stringify(all, null, 2)}\n`)
  for (const [what, releases] of [["Effect 3", three], ["Effect 4", four], ["The command", command]] as const) {
    const files = releases.map(({ file }) => quoted(path.join(folder, file)))
    yield* Console.log(`${what}:\nnpm i ${what === "The command" ? "-g " : ""}${files.join(" ")}\n`)
  }
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)
