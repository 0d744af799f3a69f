// Packs the packages and walks a stranger's path from their tarballs. Without arguments on the Node that runs this; with
// `--all` on every runtime that is supported.

import { Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Duration, Effect } from "effect"
import { compareBundles } from "./bundle.ts"
import { checkLowest, highest, lowest, makeProject, runProgram } from "./project.ts"
import { run } from "./run.ts"
import { checkContents, lint, pack, temporary } from "./tarballs.ts"

const isWhole = process.argv.includes("--all")

const otherRuntimes = [
  ["Node 20", ["npx", "-y", "node@20"]],
  ["Node 22", ["npx", "-y", "node@22"]],
  ["Node 24", ["npx", "-y", "node@24"]],
  ["Node 26", ["npx", "-y", "node@26"]],
  ["Bun", ["npx", "-y", "bun@1"]],
  ["Deno", ["npx", "-y", "deno@2", "run", "--allow-all"]]
] as const

const step = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    Effect.timed(effect),
    ([time, value]) =>
      Effect.as(
        Console.log(`ok  ${what}  ${Duration.format(Duration.decode(Math.round(Duration.toMillis(time))))}`),
        value
      )
  )

Effect.gen(function*() {
  const path = yield* Path.Path
  const here = path.resolve(import.meta.dirname, "..")
  const root = path.resolve(here, "../..")

  const tarballs = yield* step("build and pack", Effect.flatMap(temporary, (folder) => pack(root, folder)))
  yield* step(
    "contents, publint and attw of every tarball",
    Effect.forEach(Object.values(tarballs), (tarball) => Effect.zipRight(checkContents(tarball), lint(here, tarball)))
  )
  yield* step("the lowest peers of every tarball", Effect.forEach(Object.values(tarballs), checkLowest))

  const node = `Node ${process.versions.node}`
  const byNpm = yield* temporary
  yield* step("install by npm, lowest peers, and types", makeProject(here, byNpm, tarballs, "npm", lowest))
  yield* step(`${node}, installed by npm`, runProgram(byNpm, [process.execPath]))
  const byPnpm = yield* temporary
  yield* step(
    "install by pnpm, highest peers, and types",
    Effect.flatMap(
      highest(tarballs["@credit-data/simulator"] ?? ""),
      (versions) => makeProject(here, byPnpm, tarballs, "pnpm", versions)
    )
  )
  yield* step(`${node}, installed by pnpm`, runProgram(byPnpm, [process.execPath]))

  const esbuild = path.join(here, "node_modules/.bin/esbuild")
  const bundle = ["--bundle", "--platform=node", "--format=esm", "--outfile=bundle/program.mjs"]
  // some of what the platform needs is CommonJS, which asks for `require`
  const require = "--banner:js=import{createRequire}from'node:module';const require=createRequire(import.meta.url);"
  yield* step("bundle by esbuild", run(byNpm, esbuild, "program.ts", ...bundle, require))
  yield* step(`${node}, bundled`, runProgram(byNpm, [process.execPath], "bundle/program.mjs"))

  yield* Console.log(`    ${yield* step("size of the bundle", compareBundles(byNpm))}`)

  if (isWhole) {
    for (const [name, runtime] of otherRuntimes) {
      yield* step(`${name}, installed by npm`, runProgram(byNpm, runtime))
      yield* step(`${name}, installed by pnpm`, runProgram(byPnpm, runtime))
    }
  }
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer), NodeRuntime.runMain)
