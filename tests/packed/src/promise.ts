import { Simulator } from "@credit-data/simulator"
import { packOne, temporary } from "@credit-data/tools/pack"
import { CommandFailed, run } from "@credit-data/tools/run"
import { FileSystem, Path } from "@effect/platform"
import { Console, Effect } from "effect"
import { build } from "esbuild"
import { gzipSync } from "node:zlib"
import type { Runtime } from "./lines.ts"
import { walkNext } from "./next.ts"

const expected =
  "package/LICENSE package/README.md package/lib/THIRD-PARTY-NOTICES.txt package/lib/browser.cjs package/lib/index.cjs " +
  "package/lib/index.d.cts package/lib/index.d.ts package/lib/index.js package/lib/workerd.cjs package/package.json"

/** Fails if the tarball has other files, if it needs another package, or if a reader of its types meets one. */
const checkContents = Effect.fnUntraced(function*(tarball: string) {
  const text = (file: string) => run(".", "tar", "-xOzf", tarball, file)
  const files = (yield* run(".", "tar", "-tzf", tarball)).trim().split("\n").toSorted().join(" ")
  if (files !== expected) return yield* Effect.fail(new CommandFailed(`${tarball} has ${files}`))
  if (!/^effect \d/m.test(yield* text("package/lib/THIRD-PARTY-NOTICES.txt"))) {
    return yield* Effect.fail(new CommandFailed(`${tarball}: no licence of effect`))
  }
  const { dependencies, peerDependencies }: Readonly<Record<string, unknown>> = JSON.parse(
    yield* text("package/package.json")
  )
  if (dependencies !== undefined || peerDependencies !== undefined) {
    return yield* Effect.fail(new CommandFailed(`${tarball} has dependencies`))
  }
  if (/\beffect\b/i.test(yield* text("package/lib/index.d.cts"))) {
    return yield* Effect.fail(new CommandFailed(`${tarball}: its types name Effect`))
  }
})

/** The largest allowed sizes: of the installed package in KiB, and of a bundled program in bytes, compressed by gzip. */
const bars = { installed: 1_500, bundled: 85_000 }

const checkSizes = Effect.fnUntraced(function*(folder: string) {
  const { outputFiles } = yield* Effect.promise(() =>
    build({
      absWorkingDir: folder,
      stdin: { contents: "export { connect } from \"@credit-data/promise\"", resolveDir: folder },
      bundle: true,
      minify: true,
      platform: "node",
      format: "esm",
      write: false
    })
  )
  const bundled = gzipSync(outputFiles[0]?.contents ?? "").length
  const installed = Number.parseInt(yield* run(folder, "du", "-sk", "--apparent-size", "node_modules"), 10)
  const figures = `${installed} KiB installed, at most ${bars.installed}; ` +
    `${bundled} bytes in a bundle in gzip, at most ${bars.bundled}`
  return installed > bars.installed || bundled > bars.bundled
    ? yield* Effect.fail(new CommandFailed(`The package is too large: ${figures}`))
    : figures
})

/** Fails if a program prints anything else. */
const prints = Effect.fnUntraced(function*<E>(lines: ReadonlyArray<string>, printed: Effect.Effect<string, E>) {
  const text = yield* printed
  if (text !== `${lines.join("\n")}\n`) return yield* Effect.fail(new CommandFailed(`The program printed\n${text}`))
})

const ofProgram = [
  "200 /data-access/consumers/42",
  "InvalidClient true false",
  "ConfigError true",
  "of a test"
]

/** Runs a program with the variables of a simulator. */
const against = (folder: string, command: ReadonlyArray<string>, ...args: ReadonlyArray<string>) =>
  Effect.flatMap(Simulator.variables, (variables) =>
    run(
      folder,
      "env",
      ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      ...command,
      ...args
    )).pipe(Effect.provide(Simulator.layer()))

const runProgram = (folder: string, command: ReadonlyArray<string>, file = "program.js") =>
  prints(ofProgram, against(folder, command, file))

/** In a bundle for a page or for workerd, the import fails with the reason. */
const checkRefused = Effect.fnUntraced(function*(folder: string, condition: string, reason: string) {
  const program = "import('@credit-data/promise').catch(({ message }) => console.log(message))"
  const printed = yield* run(folder, process.execPath, "--conditions", condition, "-e", program)
  if (!printed.includes(reason)) return yield* Effect.fail(new CommandFailed(`With ${condition}: ${printed}`))
})

const types = { typescript: "7.0.2", "typescript-5.4": "npm:typescript@5.4.5", "@types/node": "20.19.43" }

const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false", "--target", "es2022"]

/** Where a program's types of `fetch` and `Response` come from, and how TypeScript finds modules. */
const compilations = {
  always: [
    ["typescript-5.4", "--module", "nodenext", "--lib", "es2022", "--types", "node"],
    ["typescript", "--module", "nodenext", "--lib", "es2022", "--types", "node"]
  ],
  whole: [
    ["typescript-5.4", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable", "--typeRoots", "none"],
    ["typescript-5.4", "--module", "commonjs", "--moduleResolution", "node10", "--lib", "es2022", "--types", "node"],
    ["typescript", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom", "--typeRoots", "none"]
  ]
} as const

const checkTypes = (folder: string, isWhole: boolean) =>
  Effect.forEach(
    [...compilations.always, ...isWhole ? compilations.whole : []],
    ([compiler, ...options]) =>
      run(folder, process.execPath, `node_modules/${compiler}/bin/tsc`, ...strict, ...options, "types.ts")
  )

const tools = {
  jest: "30.5.2",
  "@rspack/core": "2.3.3",
  "@vercel/ncc": "0.45.0",
  vite: "8.4.0",
  "@opentelemetry/api": "1.9.1",
  "@opentelemetry/instrumentation": "0.223.0",
  "@opentelemetry/instrumentation-http": "0.223.0",
  "@opentelemetry/sdk-trace-base": "2.12.1",
  "@opentelemetry/sdk-trace-node": "2.12.1"
}

const manifest = (tarball: string, devDependencies: Readonly<Record<string, string>>) =>
  JSON.stringify({
    name: "a-program",
    private: true,
    type: "module",
    dependencies: { "@credit-data/promise": `file:${tarball}` },
    devDependencies
  })

/** Packs the package for Promises, and uses it as a new user would: installed alone, and with the tools of a program. */
export const walkPromise = Effect.fnUntraced(function*(
  here: string,
  step: <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
  runtimes: ReadonlyArray<Runtime>,
  isWhole: boolean
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const tarball = yield* step(
    "bundle and pack",
    Effect.flatMap(temporary, (folder) => packOne(path.resolve(here, "../../packages/promise"), folder))
  )
  yield* step("contents of the tarball", checkContents(tarball))
  const bin = (name: string) => path.join(here, "node_modules/.bin", name)
  yield* step(
    "publint and attw",
    Effect.zipRight(
      run(here, bin("publint"), "run", tarball, "--strict"),
      run(here, bin("attw"), tarball, "--exclude-entrypoints", "package.json")
    )
  )

  const project = Effect.fnUntraced(function*(devDependencies: Readonly<Record<string, string>>) {
    const folder = yield* temporary
    yield* fs.copy(path.join(here, "promise"), folder, { overwrite: true })
    yield* fs.writeFileString(path.join(folder, "package.json"), manifest(tarball, devDependencies))
    yield* run(folder, "npm", "install", "--no-audit", "--no-fund")
    return folder
  })
  const alone = yield* step("install alone", project({}))
  yield* Console.log(yield* step("sizes", checkSizes(alone)))
  for (const [name, command] of runtimes) {
    yield* step(`${name}: import`, runProgram(alone, command))
    yield* step(`${name}: require`, prints(["ConfigError true"], run(alone, ...command, "required.cjs")))
    yield* step(
      `${name}: both in one process`,
      prints(["true true", "true", "true"], run(alone, ...command, "together.js"))
    )
  }
  yield* step("refused for browsers", checkRefused(alone, "browser", "isn't for browsers"))
  yield* step("refused for workerd", checkRefused(alone, "workerd", "does not run on workerd"))
  const esbuild = ["--bundle", "--minify", "--platform=node", "--format=esm", "--outfile=with-esbuild/program.mjs"]
  yield* step("bundle with esbuild", run(alone, bin("esbuild"), "program.js", ...esbuild))
  yield* step("the bundle", runProgram(alone, [process.execPath], "with-esbuild/program.mjs"))

  const compiled = yield* step("install with TypeScript", project(types))
  yield* step("types with TypeScript 5.4 and the newest", checkTypes(compiled, isWhole))
  if (!isWhole) return

  const equipped = yield* step("install with Jest and bundlers", project(tools))
  const tool = (name: string) => path.join(equipped, "node_modules/.bin", name)
  yield* step("Jest", against(equipped, [tool("jest")]))
  yield* step(
    "OpenTelemetry measures its requests",
    prints(
      ["POST /oauth2/token", "GET /data-access/consumers/42"],
      against(equipped, [process.execPath, "--require", "./instrumentation.cjs"], "instrumented.js")
    )
  )
  yield* step("bundle with rspack", run(equipped, process.execPath, "rspack.mjs"))
  yield* step("the bundle", runProgram(equipped, [process.execPath], "with-rspack/program.cjs"))
  yield* step("bundle with ncc", run(equipped, tool("ncc"), "build", "program.js", "--out", "with-ncc"))
  yield* step("the bundle", runProgram(equipped, [process.execPath], "with-ncc/index.js"))
  yield* step("bundle for a server with Vite", run(equipped, tool("vite"), "build"))
  yield* step("the bundle", runProgram(equipped, [process.execPath], "with-vite/program.js"))
  yield* step("the example of Next", walkNext(tarball))
})
