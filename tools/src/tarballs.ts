// Packs what a release publishes: the libraries of both lines, and what exists once for both. Writes `tarballs/release.json`, the list for
// tools/release/publish.mjs, and prints the pages' install lines with these tarballs in place of the packages.

import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { installLines, isForEffect3, withDependencies } from "./installLines.ts"
import { bundled, pack, packOne } from "./pack.ts"
import { run } from "./run.ts"

const Versions = Schema.Record({ key: Schema.String, value: Schema.String })

const Manifest = Schema.parseJson(Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  dependencies: Schema.optionalWith(Versions, { default: () => ({}) })
}))

const Template = Schema.parseJson(Schema.Struct({ dependencies: Versions, devDependencies: Versions }))

interface Dependent {
  readonly name: string
  readonly dependencies: Readonly<Record<string, string>>
}

/** Packages after those that they depend on, so that a release that breaks off can be installed up to there. */
const dependenciesFirst = <A extends Dependent>(packages: ReadonlyArray<A>): ReadonlyArray<A> => {
  const sorted = new Set<A>()
  const add = (each: A): void => {
    packages.filter(({ name }) => name in each.dependencies).forEach(add)
    sorted.add(each)
  }
  packages.forEach(add)
  return [...sorted]
}

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
    const releases = yield* Effect.forEach(files, (file) =>
      Effect.gen(function*() {
        const text = yield* run(".", "tar", "-xOzf", file, "package/package.json")
        const { dependencies, name, version } = yield* Schema.decode(Manifest)(text)
        const digest = createHash("sha512").update(yield* fs.readFile(file)).digest("base64")
        return { name, version, tag, file: path.relative(folder, file), integrity: `sha512-${digest}`, dependencies }
      }))
    return dependenciesFirst(releases)
  })
  const libraries = (packages: string) => (into: string) => Effect.map(pack(packages, into), Object.values<string>)

  const three = yield* part("effect-3", "effect-3", libraries(path.join(root, "packages")))
  // the release workflow expects the command to be the last
  const once = yield* part(
    "once",
    "latest",
    (into) => Effect.forEach(bundled, (name) => packOne(path.join(root, "packages", name), into))
  )
  const four = yield* part("effect-4", "latest", libraries(path.join(root, "effect-4/generated/packages")))
  // the first publication of a package sets `latest`, whatever its tag, so Effect 4 goes first
  const all = [...four, ...three, ...once]
  yield* fs.writeFileString(path.join(folder, "release.json"), `${JSON.stringify(all, null, 2)}\n`)

  /** The lines of "Get started", and those of the packages that it does not install. */
  const linesOf = Effect.fnUntraced(function*(top: string, releases: typeof three, isFor: (line: string) => boolean) {
    const readmes = releases.map(({ name }) => `${name.replace("@credit-data/", "packages/")}/README.md`)
    const pages = yield* Effect.forEach(
      ["docs/get-started.md", ...readmes],
      (page) => Effect.map(fs.readFileString(path.join(top, page)), (text) => text.split("\n").filter(isFor).join("\n"))
    )
    return installLines(pages, releases, (file) => quoted(path.join(folder, file))).join("\n")
  })
  yield* Console.log(`Effect 3:\n${yield* linesOf(root, three, isForEffect3)}\n`)
  const generated = path.join(root, "effect-4/generated")
  yield* Console.log(`Effect 4:\n${yield* linesOf(generated, four, (line) => !isForEffect3(line))}\n`)

  const fileOf = (name: string, releases: typeof three) =>
    quoted(path.join(folder, releases.find((release) => release.name === name)?.file ?? name))
  yield* Console.log(`Promises:\nnpm i ${fileOf("@credit-data/promise", once)}\n`)
  yield* Console.log(`The command:\nnpm i -g ${fileOf("@credit-data/cli", once)}\n`)

  /** Creates a service, and installs it with these tarballs instead of the versions in its package.json. */
  const creation = Effect.fnUntraced(function*(kind: string, option: string, releases: typeof three) {
    const create = fileOf("create-credit-data", once)
    const template = path.join(root, `packages/create-credit-data/dist/${kind}/package.json`)
    const { dependencies, devDependencies } = yield* Effect.flatMap(
      fs.readFileString(template),
      Schema.decode(Template)
    )
    const names = Object.keys({ ...dependencies, ...devDependencies }).filter((name) =>
      name.startsWith("@credit-data/")
    )
    return [
      `npm exec -y --package=${create} -- create-credit-data my-service ${option}`,
      `cd my-service && npm i ${[...withDependencies(names, releases)].map((name) => fileOf(name, releases)).join(" ")}`
    ].join("\n")
  })
  const ofThree = yield* creation("effect-3", "--effect 3", [...three, ...once])
  const ofFour = yield* creation("effect-4", "--effect 4", [...four, ...once])
  const ofPromises = yield* creation("promise", "--promise", once)
  yield* Console.log(`A new service for Effect 3:\n${ofThree}\n`)
  yield* Console.log(`A new service for Effect 4:\n${ofFour}\n`)
  yield* Console.log(`A new service with Promises:\n${ofPromises}\n`)
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)
