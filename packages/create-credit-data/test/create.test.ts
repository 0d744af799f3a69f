import { run } from "@credit-data/test-support/childProcess"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { help, report, usage } from "../src/messages.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const own = join(root, "packages/create-credit-data")
const read = (...path: ReadonlyArray<string>) => readFileSync(join(...path), "utf8")

const work = mkdtempSync(join(process.env["TEST_RUN_FOLDER"] ?? tmpdir(), "create-credit-data-"))

// the scripts that build the published program, into another folder
const { scripts, version }: { readonly scripts: Record<string, string>; readonly version: string } = JSON.parse(
  read(own, "package.json")
)
const output = join(work, "dist")
const bin = [own, root].map((folder) => join(folder, "node_modules/.bin")).join(":")
for (
  const script of [
    scripts["bundle"]?.replace("--outdir=dist", `--outdir=${output} --log-level=error`),
    scripts["templates"]?.replace(/dist$/, output)
  ]
) {
  execFileSync("sh", ["-c", script ?? ""], {
    cwd: own,
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}` },
    stdio: ["ignore", "ignore", "inherit"]
  })
}

const folders = { count: 0 }

/** Runs the program in a new folder, on a Node that reports this version. */
const start = (node: string, args: ReadonlyArray<string>, env: Record<string, string> = {}, cwd = "") => {
  const folder = cwd === "" ? join(work, String(folders.count++)) : cwd
  mkdirSync(folder, { recursive: true })
  const versions = `Object.defineProperty(process,"versions",{value:{...process.versions,node:"${node}"}})`
  return Effect.map(
    run([
      process.execPath,
      "--import",
      `data:text/javascript,${encodeURIComponent(versions)}`,
      join(output, "create-credit-data.js"),
      ...args
    ], { cwd: folder, env: { npm_config_effect: "", ...env } }),
    (ended) => ({ ...ended, folder })
  )
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .flatMap((entry) => entry.isFile() ? [join(entry.parentPath, entry.name).slice(folder.length + 1)] : [])
    .toSorted()

interface Manifest {
  readonly name: string
  readonly engines: { readonly node: string }
  readonly dependencies: Record<string, string>
  readonly devDependencies: Record<string, string>
}

const manifestIn = (folder: string): Manifest => JSON.parse(read(folder, "package.json"))

/** The packages that a file imports. */
const packagesOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/ from "(?!\.|node:)((?:@[^/"]+\/)?[^/"]+)/g)].map(([, name = ""]) => name)

const examples = { src: join(root, "examples/src/service"), test: join(root, "examples/test/service") }

const sources = Object.entries(examples).flatMap(([to, from]) => readdirSync(from).map((name) => `${to}/${name}`))

describe("npm create credit-data", () => {
  it.live("writes the service example and its test for Effect 3, with exact versions", () =>
    Effect.gen(function*() {
      const { exitCode, folder, stderr, stdout } = yield* start("20.19.0", ["my-service", "--effect", "3"])
      assert.deepStrictEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" })
      assert.include(stdout, "\n  cd my-service\n  npm install\n  npm test\n  npm start\n")
      const service = join(folder, "my-service")
      const others = [
        ".dockerignore",
        ".env.example",
        ".gitignore",
        "Dockerfile",
        "README.md",
        "package.json",
        "tsconfig.build.json",
        "tsconfig.json"
      ]
      assert.deepStrictEqual(filesIn(service), [...others, ...sources].toSorted())
      for (const name of readdirSync(examples.src)) {
        assert.strictEqual(read(service, "src", name), read(examples.src, name))
      }
      for (const name of readdirSync(examples.test)) {
        const expected = read(examples.test, name).replace("../../src/service/", "../src/")
        assert.strictEqual(read(service, "test", name), expected)
      }
      const { name, engines } = manifestIn(service)
      assert.deepStrictEqual({ name, engines }, { name: "my-service", engines: { node: ">=20.19.0" } })
    }))

  it.live("writes the service for Effect 4 by default, into the folder my-service", () =>
    Effect.gen(function*() {
      const { exitCode, folder, stdout } = yield* start("22.19.0", [])
      assert.strictEqual(exitCode, 0)
      assert.include(stdout, "Created a service for Effect 4 in my-service.")
      const service = join(folder, "my-service")
      const text = sources.map((name) => read(service, name)).join("\n")
      assert.include(text, "from \"effect/http\"")
      assert.notInclude(text, "@effect/platform\"")
      assert.isEmpty(text.split("\n").filter((line) => line.length > 120 && !line.startsWith("/")))
      assert.notInclude(`${text}${read(service, "package.json")}`, "tsx") // Node runs TypeScript
      const { dependencies, engines } = manifestIn(service)
      assert.deepStrictEqual(engines, { node: ">=22.19.0" })
      assert.match(dependencies["effect"] ?? "", /^4\./)
    }))

  it.live("writes a service with Promises, which names no package of Effect", () =>
    Effect.gen(function*() {
      for (const [args, env] of [[["a", "--promise"], {}], [["a"], { npm_config_promise: "true" }]] as const) {
        const { exitCode, folder, stdout } = yield* start("20.19.0", args, env)
        assert.strictEqual(exitCode, 0)
        assert.include(stdout, "Created a service with Promises in a.")
        const service = join(folder, "a")
        const { dependencies, devDependencies } = manifestIn(service)
        // both have one version for all
        assert.deepStrictEqual(dependencies, { "@credit-data/cli": version, "@credit-data/promise": version })
        const known = Object.keys({ ...dependencies, ...devDependencies })
        assert.isEmpty(known.filter((name) => name.includes("effect")))
        for (const file of filesIn(service).filter((file) => file.endsWith(".ts"))) {
          assert.includeMembers(known, [...packagesOf(read(service, file))], file)
        }
      }
      const { exitCode, stderr } = yield* start("20.18.0", ["a", "--promise"])
      assert.strictEqual(exitCode, 1)
      assert.include(stderr, "with Promises needs Node 20.19.0 or later")
    }))

  it.live("has the command, which the runbook runs, in production", () =>
    Effect.gen(function*() {
      for (const effect of ["3", "4"]) {
        const { folder } = yield* start("24.0.0", ["a", "--effect", effect])
        // one command is for both versions of Effect
        assert.strictEqual(manifestIn(join(folder, "a")).dependencies["@credit-data/cli"], version)
      }
    }))

  it.live("names each package that the service imports, and needs no development package in production", () =>
    Effect.gen(function*() {
      for (const effect of ["3", "4"]) {
        const { folder } = yield* start("24.0.0", ["a", "--effect", effect])
        const service = join(folder, "a")
        const { dependencies, devDependencies } = manifestIn(service)
        for (const found of Object.values({ ...dependencies, ...devDependencies })) {
          assert.match(found, /^\d+\.\d+\.\d+$/)
        }
        for (const file of sources) {
          const isDevelopment = file.startsWith("test/") || file === "src/local.ts"
          const known = Object.keys(isDevelopment ? { ...dependencies, ...devDependencies } : dependencies)
          assert.includeMembers(known, [...packagesOf(read(service, file))], file)
        }
      }
    }))

  it.live("refuses a Node that is too old for Effect 4, names the option for Effect 3, and writes nothing", () =>
    Effect.gen(function*() {
      for (const node of ["20.19.0", "22.18.0"]) {
        const { exitCode, folder, stderr, stdout } = yield* start(node, ["my-service"])
        assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 1, stdout: "" })
        assert.include(stderr, `this is Node ${node}`)
        assert.include(stderr, "\n  npm create credit-data my-service -- --effect 3\n")
        assert.isEmpty(readdirSync(folder))
      }
      const { exitCode, stderr } = yield* start("20.18.0", ["--effect=3"])
      assert.strictEqual(exitCode, 1)
      assert.include(stderr, "needs Node 20.19.0 or later")
    }))

  it.live("refuses a folder that is not empty and a file, and changes nothing", () =>
    Effect.gen(function*() {
      const { folder } = yield* start("24.0.0", ["--help"])
      mkdirSync(join(folder, "full"))
      writeFileSync(join(folder, "full/mine"), "mine")
      const full = yield* start("24.0.0", ["full"], {}, folder)
      assert.deepStrictEqual({ exitCode: full.exitCode, stdout: full.stdout }, { exitCode: 1, stdout: "" })
      assert.include(full.stderr, "The folder full is not empty. Nothing was created.")
      const file = yield* start("24.0.0", ["full/mine"], {}, folder)
      assert.strictEqual(file.exitCode, 1)
      assert.include(file.stderr, "cannot be written: ENOTDIR")
      assert.deepStrictEqual(filesIn(folder), ["full/mine"])
      assert.strictEqual(read(folder, "full/mine"), "mine")
    }))

  it.live("suggests a command for the same version of Effect after a folder that is not empty", () =>
    Effect.gen(function*() {
      const { folder } = yield* start("24.0.0", ["--help"])
      writeFileSync(join(folder, "mine"), "mine")
      for (const [args, suffix] of [[["."], ""], [[".", "--effect", "3"], " -- --effect 3"]] as const) {
        const { stderr } = yield* start("24.0.0", args, {}, folder)
        assert.include(stderr, `\n  npm create credit-data another-service${suffix}\n`)
      }
    }))

  it.live("writes into a folder that contains only .git, and into a folder that a link names", () =>
    Effect.gen(function*() {
      const { folder } = yield* start("24.0.0", ["--help"])
      mkdirSync(join(folder, "repository/.git"), { recursive: true })
      mkdirSync(join(folder, "empty"))
      symlinkSync("empty", join(folder, "link"))
      for (const [name, written] of [["repository", "repository"], ["link", "empty"]] as const) {
        const { exitCode, stderr } = yield* start("24.0.0", [name], {}, folder)
        assert.deepStrictEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" })
        assert.strictEqual(manifestIn(join(folder, written)).name, name)
      }
    }))

  it.live("creates the parents of a folder, and ends where no folder can be", () =>
    Effect.gen(function*() {
      const { folder } = yield* start("24.0.0", ["a/b//c/"])
      assert.strictEqual(manifestIn(join(folder, "a/b/c")).name, "c")
      for (const path of ["/proc/x", "/proc/x/y", join(folder, "a/b/c/package.json/x")]) {
        const { exitCode, stderr } = yield* start("24.0.0", [path])
        assert.strictEqual(exitCode, 1)
        assert.match(stderr, /cannot\sbe\swritten:\sE[A-Z]+\./)
      }
    }))

  it.live("writes into an empty folder, and gives the package a name that npm accepts", () =>
    Effect.gen(function*() {
      const { folder, stdout } = yield* start("24.0.0", [" My Service's 1st!"])
      assert.include(stdout, "\n  cd ' My Service'\\''s 1st!'\n")
      assert.strictEqual(manifestIn(join(folder, " My Service's 1st!")).name, "my-service-s-1st")
      mkdirSync(join(folder, "日本"))
      const empty = yield* start("24.0.0", ["."], {}, join(folder, "日本"))
      assert.strictEqual(empty.exitCode, 0)
      assert.include(empty.stdout, "Next:\n\n  npm install\n")
      assert.strictEqual(manifestIn(join(folder, "日本")).name, "my-service")
    }))

  it.live("uses the option that npm keeps for itself, because -- is missing before it", () =>
    Effect.gen(function*() {
      for (
        const [args, value] of [
          [["a-service"], "3"],
          [["a-service", "3"], "true"],
          [["3", "a-service"], "true"]
        ] as const
      ) {
        const { stdout } = yield* start("24.0.0", args, { npm_config_effect: value })
        assert.include(stdout, "Created a service for Effect 3 in a-service.")
      }
      const { exitCode } = yield* start("24.0.0", ["a-service"], { npm_config_effect: "true" })
      assert.strictEqual(exitCode, 2)
    }))

  it.live("prints its help and its version", () =>
    Effect.gen(function*() {
      const helped = yield* start("18.0.0", ["--help"])
      assert.deepStrictEqual({ ...helped, folder: "" }, {
        exitCode: 0,
        stdout: help(version, 80),
        stderr: "",
        folder: ""
      })
      assert.strictEqual((yield* start("18.0.0", ["--version"])).stdout, `${version}\n`)
    }))

  it.live("exits with 2 after wrong arguments, and writes nothing", () =>
    Effect.gen(function*() {
      for (
        const [args, message] of [
          [["--efect", "3"], "There is no option --efect."],
          [["-x"], "There is no option -x."],
          [["--constructor"], "There is no option --constructor."],
          [["--effect", "3", "--promise"], "Choose one of --effect and --promise."],
          [["--effect", "5"], "The option --effect is 3 or 4."],
          [["--effect"], "The option --effect is 3 or 4."],
          [["my", "service"], "There is more than one folder."],
          [[""], "The name of the folder is empty."]
        ] as const
      ) {
        const { exitCode, folder, stderr, stdout } = yield* start("24.0.0", args)
        assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 2, stdout: "" }, args.join(" "))
        assert.include(stderr, message)
        assert.include(stderr, "\n  npm create credit-data -- --help\n")
        assert.isEmpty(readdirSync(folder))
      }
    }))

  it("fits its texts into 40, 80 and 120 columns, except commands, which are not broken", () => {
    for (const width of [40, 80, 120]) {
      const texts = [
        help(version, width),
        usage("There is more than one folder. Quote a name that contains spaces.", width),
        ...([
          { _tag: "Created" },
          { _tag: "NodeTooOld", needed: "22.19.0" },
          { _tag: "NotEmpty" },
          { _tag: "Failed", code: "EACCES" }
        ] as const).map((outcome) => report(outcome, "my-service", "effect-4", width))
      ]
      for (const line of texts.join("").split("\n").filter((line) => !line.startsWith("  npm create "))) {
        assert.isAtMost(line.length, width, line)
      }
    }
  })

  it("needs no other package at run time", () => {
    assert.notInclude(read(output, "create-credit-data.js"), "require(")
    for (const name of packagesOf(read(output, "create-credit-data.js"))) assert.fail(name)
    assert.isFalse("dependencies" in JSON.parse(read(own, "package.json")))
  })
})
