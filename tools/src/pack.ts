import { FileSystem, Path } from "@effect/platform"
import { Effect, Schema } from "effect"
import { withPublicLinks } from "../../docs/.vitepress/links.ts"
import { CommandFailed, run } from "./run.ts"

/** A temporary folder, which is removed when the scope is closed. */
export const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

/** The links of a README in the repository lead nowhere in an installation. */
const withPublicLinksIn = Effect.fnUntraced(function*(tarball: string, page: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* temporary
  // without folders, as npm packs
  const files = (yield* run(folder, "tar", "-tzf", tarball)).trim().split("\n")
  yield* run(folder, "tar", "-xzf", tarball)
  const readme = path.join(folder, "package/README.md")
  yield* fs.writeFileString(
    readme,
    withPublicLinks(page, yield* fs.readFileString(readme), (file) => files.includes(`package/${file}`))
  )
  yield* run(folder, "tar", "-czf", tarball, ...files)
})

/** Packs a package into a folder, as a release does. Returns its tarball. */
export const packOne = Effect.fnUntraced(function*(source: string, folder: string) {
  const path = yield* Path.Path
  const printed = yield* run(source, "npx", "-y", "pnpm@10.34.9", "pack", "--json", "--pack-destination", folder)
  // a script that runs before packing prints its own lines
  const json = printed.slice(printed.search(/^\{/m))
  const { filename } = yield* Schema.decode(Schema.parseJson(Schema.Struct({ filename: Schema.String })))(json)
  const tarball = path.resolve(folder, filename)
  yield* Effect.scoped(withPublicLinksIn(tarball, `packages/${path.basename(source)}/README.md`))
  return tarball
})

/** The packages that exist once for both versions of Effect: each brings what it needs. */
export const bundled = ["create-credit-data", "promise", "cli"]

/** Builds the libraries in a folder and packs them into another one. Returns the tarball of each. */
export const pack = Effect.fnUntraced(function*(packages: string, folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folders = yield* fs.readDirectory(packages)
  const names = yield* Effect.filter(
    folders,
    (name) => bundled.includes(name) ? Effect.succeed(false) : fs.exists(path.join(packages, name, "src/index.ts"))
  )
  yield* run(packages, path.resolve(import.meta.dirname, "../../node_modules/.bin/tsc"), "-b", ...names)
  const tarballs: Record<string, string> = Object.fromEntries(
    yield* Effect.forEach(
      names,
      (name) => Effect.map(packOne(path.join(packages, name), folder), (tarball) => [`@credit-data/${name}`, tarball]),
      {
        concurrency: 2
      }
    )
  )
  return tarballs
})

const expected =
  /^package\/(package\.json|README\.md|LICENSE|acl\.conf|alerts\/[\w.-]+\.yml|dashboards\/[\w-]+\.json|(dist|src)\/[\w./-]+\.(ts|cts|js|cjs|map))$/

/** Fails if a tarball has unexpected files, lacks required ones, or has a README with a link that leads nowhere. */
export const checkContents = Effect.fnUntraced(function*(tarball: string) {
  const files = (yield* run(".", "tar", "-tzf", tarball)).trim().split("\n")
  const surplus = files.filter((file) => !expected.test(file))
  const missing = ["package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"]
    .filter((file) => !files.includes(`package/${file}`))
  if (surplus.length + missing.length > 0) {
    return yield* Effect.fail(
      new CommandFailed(`${tarball}: surplus ${surplus.join(" ")}, missing ${missing.join(" ")}`)
    )
  }
  const readme = yield* run(".", "tar", "-xOzf", tarball, "package/README.md")
  const lost = Array.from(readme.matchAll(/\]\((?!https?:|#)([^)\s#]+)/g), ([, href = ""]) => href.replace("./", ""))
    .filter((href) => !files.some((file) => file === `package/${href}` || file.startsWith(`package/${href}/`)))
  if (lost.length > 0) {
    return yield* Effect.fail(new CommandFailed(`${tarball}: links of its README lead nowhere: ${lost.join(" ")}`))
  }
})

const Manifest = Schema.parseJson(
  Schema.Struct({
    peerDependencies: Schema.Record({ key: Schema.String, value: Schema.String })
  })
)

/** The ranges of the peers that a tarball accepts. */
export const peerRanges = (tarball: string) =>
  run(".", "tar", "-xOzf", tarball, "package/package.json").pipe(
    Effect.flatMap(Schema.decode(Manifest)),
    Effect.map(({ peerDependencies }) => peerDependencies)
  )

/** Checks a tarball with `publint` and `attw`. */
export const lint = Effect.fnUntraced(function*(here: string, tarball: string) {
  const path = yield* Path.Path
  const bin = (name: string) => path.join(here, "node_modules/.bin", name)
  yield* run(here, bin("publint"), "run", tarball, "--strict")
  yield* run(here, bin("attw"), tarball, "--profile", "esm-only", "--exclude-entrypoints", "package.json")
})

export type Tarballs = Effect.Effect.Success<ReturnType<typeof pack>>
