// Packs the packages and uses the tarballs as a new user would. Without arguments, it installs them with npm and the lowest
// peers, and uses one runtime for each line. With `--all`, it also checks them with publint and attw, installs them with pnpm and the highest
// peers, and uses every supported runtime.

import { startRedis } from "@credit-data/test-support/redisServer"
import { Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { compareBundles, compareLines } from "./bundle.ts"
import * as Command from "./command.ts"
import { effect3, effect4, type Line } from "./lines.ts"
import { checkLowest, highest, makeProject, runProgram } from "./project.ts"
import { walkPromise } from "./promise.ts"
import { step } from "./step.ts"
import { run } from "@credit-data/tools/run"
import { checkContents, lint, pack, packOne, temporary } from "@credit-data/tools/pack"

const isWhole = process.argv.includes("--all")

/** A step of one of the parts that run beside each other. */
const stepOf = (part: string) => <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) =>
  step(`${part}: ${what}`, effect)

/** Packs, installs, runs and bundles the packages of a line. */
const walk = Effect.fnUntraced(function*(here: string, line: Line) {
  const path = yield* Path.Path
  const { url: redis } = yield* startRedis()
  const step = stepOf(line.name)
  const tarballs = yield* step("build and pack", Effect.flatMap(temporary, (folder) => pack(line.packages, folder)))
  yield* step(
    "contents and lowest peers of every tarball",
    Effect.forEach(
      Object.values(tarballs),
      (tarball) => Effect.zipRight(checkContents(tarball), checkLowest(line, tarball))
    )
  )

  const [runtime, command] = line.runtime
  const byNpm = yield* temporary
  yield* step("install with npm, lowest peers, and types", makeProject(line, byNpm, tarballs, "npm", line.lowest))
  yield* step(`${runtime}, installed with npm`, runProgram(byNpm, command, redis))
  const standalone = path.join(byNpm, "node_modules/@credit-data/simulator/dist/bin.js")
  yield* step("credit-data-simulator", Effect.scoped(Command.simulator([...command, standalone])))

  const esbuild = path.join(here, "node_modules/.bin/esbuild")
  const bundle = ["--bundle", "--platform=node", "--format=esm", "--outfile=bundle/program.mjs"]
  // some dependencies of the platform are CommonJS and call `require`
  const require =
    "--banner:js=import{createRequire as toRequire}from'node:module';const require=toRequire(import.meta.url);"
  yield* step("bundle with esbuild", run(byNpm, esbuild, "program.ts", ...bundle, require))
  yield* step(`${runtime}, bundled`, runProgram(byNpm, command, redis, "bundle/program.mjs"))

  const { figures, sizes } = yield* step("size of the bundle", compareBundles(byNpm, line.bundleBar))
  yield* Console.log(figures)

  if (isWhole) {
    yield* step(
      "publint and attw of every tarball",
      Effect.forEach(Object.values(tarballs), (tarball) => lint(here, tarball), { concurrency: 2 })
    )
    const byPnpm = yield* temporary
    yield* step(
      "install with pnpm, highest peers, and types",
      Effect.flatMap(
        highest(line, [tarballs["@credit-data/simulator"] ?? "", tarballs["@credit-data/store-redis"] ?? ""]),
        (versions) => makeProject(line, byPnpm, tarballs, "pnpm", versions)
      )
    )
    yield* step(`${runtime}, installed with pnpm`, runProgram(byPnpm, command, redis))
    for (const [name, other] of line.otherRuntimes) {
      yield* step(`${name}, installed with npm`, runProgram(byNpm, other, redis))
      yield* step(`${name}, installed with pnpm`, runProgram(byPnpm, other, redis))
    }
  }
  return sizes
})

/** Packs and installs the command line, and gets a token with it. */
const walkCommand = Effect.fnUntraced(function*(root: string) {
  const path = yield* Path.Path
  const { otherRuntimes, runtime } = effect3(root)
  const step = stepOf("programs")
  const folder = yield* temporary
  const tarball = yield* step("bundle and pack", packOne(path.join(root, "packages/cli"), folder))
  yield* step("contents of the tarball", Command.checkBundle(tarball))
  const services = yield* step(
    "pack create-credit-data",
    packOne(path.join(root, "packages/create-credit-data"), folder)
  )
  yield* step("contents of its tarball", Command.checkServices(services))
  const command = yield* step("install with npm", Command.install(tarball, folder))
  for (const [name, program] of [runtime, ...(isWhole ? otherRuntimes : [])]) {
    yield* step(`${name}: credit-data token`, Command.getSimulatedToken(program, command))
  }
})

Effect.gen(function*() {
  const path = yield* Path.Path
  const here = path.resolve(import.meta.dirname, "..")
  const root = path.resolve(here, "../..")
  const { otherRuntimes, runtime } = effect3(root)
  // they mostly wait for npm, or use one core
  const { four, three } = yield* Effect.all({
    three: Effect.zipRight(walkCommand(root), walk(here, effect3(root))),
    promise: walkPromise(here, stepOf("Promises"), [runtime, ...(isWhole ? otherRuntimes : [])], isWhole),
    four: walk(here, effect4(root))
  }, { concurrency: 2 })
  yield* Console.log(yield* compareLines(three, four))
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer), NodeRuntime.runMain)
