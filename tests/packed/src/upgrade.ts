import { FileSystem, HttpServer, HttpServerRequest, HttpServerResponse, Path } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { run } from "@credit-data/tools/run"
import { type Tarballs, temporary } from "@credit-data/tools/pack"
import { Context, Effect, Layer } from "effect"
import { createServer } from "node:http"

/** A package as a registry has it. */
interface Release {
  readonly manifest: { readonly name: string; readonly version: string }
  readonly tarball: string
}

/** The release of a tarball, after some changes to its files. */
const repack = <E, R>(
  tarball: string,
  change: (folder: string, manifest: string) => Effect.Effect<string, E, R>
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* temporary
    yield* run(folder, "tar", "-xzf", tarball)
    const file = path.join(folder, "package/package.json")
    const text = yield* change(path.join(folder, "package"), yield* fs.readFileString(file))
    yield* fs.writeFileString(file, text)
    yield* run(folder, "tar", "-czf", "packed.tgz", "package")
    const manifest: Release["manifest"] = JSON.parse(text)
    return { manifest, tarball: path.join(folder, "packed.tgz") }
  })

/** Before the first release, all versions are 0.0.0, and no range accepts another version. */
const release = (tarball: string) =>
  repack(tarball, (_, manifest) => Effect.succeed(manifest.replaceAll("0.0.0", "1.0.0")))

/** The next minor release of core, without the entry that only the packages of this project may use. */
const nextMinor = ({ manifest, tarball }: Release) =>
  repack(tarball, (folder, text) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      for (const extension of ["js", "d.ts"]) {
        yield* fs.writeFileString(path.join(folder, `dist/Internal.${extension}`), "export {}\n")
      }
      const [major, minor] = manifest.version.split(".").map(Number)
      return text.replace(`"version": "${manifest.version}"`, `"version": "${major}.${(minor ?? 0) + 1}.0"`)
    }))

/** A registry on loopback with these releases. Returns its address. */
const serveRegistry = Effect.fnUntraced(function*(releases: ReadonlyArray<Release>) {
  const fs = yield* FileSystem.FileSystem
  const context = yield* Layer.build(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
  const address = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
  const packument = (name: string, ofName: ReadonlyArray<Release>) => ({
    name,
    "dist-tags": { latest: ofName.at(-1)?.manifest.version },
    versions: Object.fromEntries(ofName.map((release) => [
      release.manifest.version,
      { ...release.manifest, dist: { tarball: `${address}/tarballs/${releases.indexOf(release)}` } }
    ]))
  })
  const app = Effect.gen(function*() {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const name = decodeURIComponent(url.slice(1))
    const tarball = releases[Number(/^tarballs\/(\d+)$/.exec(name)?.[1])]?.tarball
    if (tarball !== undefined) return HttpServerResponse.uint8Array(yield* fs.readFile(tarball))
    const ofName = releases.filter(({ manifest }) => manifest.name === name)
    return ofName.length === 0
      ? HttpServerResponse.empty({ status: 404 })
      : yield* HttpServerResponse.json(packument(name, ofName))
  })
  yield* Effect.provide(HttpServer.serveEffect(app), context)
  return address
})

/**
 * A registry with the packages of these tarballs, and the next minor release of core. Returns its address, and the version of each package
 * for a program that upgrades only core.
 */
export const registryWithNextCore = Effect.fnUntraced(function*(tarballs: Tarballs) {
  const releases = yield* Effect.forEach(Object.values(tarballs), release)
  const core = releases.filter(({ manifest }) => manifest.name === "@credit-data/core")
  const all = [...releases, ...yield* Effect.forEach(core, nextMinor)]
  const versions = Object.fromEntries(all.map(({ manifest }) => [manifest.name, manifest.version]))
  return { registry: yield* serveRegistry(all), versions }
})
