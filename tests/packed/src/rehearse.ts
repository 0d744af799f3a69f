// Rehearses releases against a real registry on loopback, with the scripts of a release: the first one, a minor and a breaking one. Installs
// the packages as the pages describe, as a stranger does.

import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Simulator } from "@credit-data/simulator"
import { run as runProcess } from "@credit-data/test-support/childProcess"
import { bundled, checkContents, temporary } from "@credit-data/tools/pack"
import { CommandFailed, run } from "@credit-data/tools/run"
import { Console, Effect } from "effect"
import * as Command from "./command.ts"
import { walkDockerfile } from "./container.ts"
import { createServices } from "./creation.ts"
import { startFlakyWay, startRegistry } from "./registry.ts"
import { step } from "./step.ts"

const expectFailure = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) =>
  step(what, Effect.mapError(Effect.flip(effect), () => new CommandFailed(`It did not fail: ${what}`)))

/** A line of a page that installs packages, with the page and its block. */
interface InstallLine {
  readonly page: string
  readonly block: number
  readonly line: string
}

/** The lines of a page that install packages. */
const installLines = (page: string, text: string): ReadonlyArray<InstallLine> =>
  Array.from(text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)).flatMap(([, block = ""], index) =>
    block.split("\n")
      .filter((line) => line.startsWith("npm i "))
      .map((line) => ({ page, block: index, line }))
  )

/** On Node 20, npm chooses packages for Node 20. Effect 4 needs a newer one. */
const onNode24 = (folder: string, line: string) => run(folder, "npx", "-y", "-p", "node@24", "-c", line)

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(import.meta.dirname, "../../..")

  const registry = yield* step("a registry on loopback", startRegistry)
  const way = yield* startFlakyWay(registry)
  const usual = (yield* run(root, "npm", "config", "get", "registry")).trim()
  const settings = path.join(yield* temporary, "npmrc")
  yield* fs.writeFileString(
    settings,
    [
      `registry=${usual}`,
      `@credit-data:registry=http://127.0.0.1:${way.port}/`,
      `//127.0.0.1:${way.port}/:_authToken=rehearsal`,
      "audit=false",
      "fund=false",
      "update-notifier=false",
      "fetch-retries=0"
    ].join("\n")
  )
  // each npm below belongs to a stranger, or to the publishing job
  process.env["NPM_CONFIG_USERCONFIG"] = settings

  const clone = path.join(yield* temporary, "clone")
  yield* run(root, "git", "clone", "-q", "--no-hardlinks", root, clone)
  const pnpm = (...args: ReadonlyArray<string>) => run(clone, "npx", "-y", "pnpm@10.34.9", ...args)
  yield* step("install the clone", pnpm("install", "--frozen-lockfile", "--prefer-offline"))

  const packages = yield* fs.readDirectory(path.join(clone, "packages"))
  const nameOf = (name: string) => name.startsWith("create-") ? name : `@credit-data/${name}`
  // only packages with a scope can have a registry of their own, and create-credit-data has none
  const ours = `npm_config_registry=http://127.0.0.1:${way.port}/`
  const publish = run(clone, "env", ours, process.execPath, "tools/release/publish.mjs", "tarballs")
  const version = step("version and pack", Effect.zipRight(pnpm("run", "version-packages"), pnpm("run", "tarballs")))

  /** Fails if a package has other tags. */
  const checkTags = (three: string, four: string) =>
    Effect.forEach(packages, (name) =>
      Effect.gen(function*() {
        const view = ["npm", "view", nameOf(name), "dist-tags", "--json", "--prefer-online"]
        const printed = yield* run(clone, "env", ours, ...view)
        const tags = JSON.stringify(JSON.parse(printed), ["effect-3", "latest"])
        const expected = JSON.stringify(
          bundled.includes(name) ? { latest: three } : { "effect-3": three, latest: four },
          ["effect-3", "latest"]
        )
        if (tags !== expected) return yield* Effect.fail(new CommandFailed(`${name} has ${tags} and not ${expected}`))
      }), { concurrency: 2 })

  const change = (kind: "minor" | "major", text: string) =>
    fs.writeFileString(
      path.join(clone, `.changeset/${kind}.md`),
      `---\n${packages.map((name) => `"${nameOf(name)}": ${kind}`).join("\n")}\n---\n\n${text}\n`
    )

  yield* Console.log("The first release")
  yield* version
  yield* step("publish", publish)
  yield* step("tags", checkTags("1.0.0", "2.0.0"))
  yield* step("publish again, which changes nothing", Effect.zipRight(publish, checkTags("1.0.0", "2.0.0")))

  yield* Console.log("The pages' install lines")
  const documents = (yield* fs.readDirectory(path.join(root, "docs"))).filter((name) => name.endsWith(".md"))
  const pages = [
    "README.md",
    ...documents.map((name) => `docs/${name}`),
    ...packages.map((name) => `packages/${name}/README.md`)
  ]
  const lines = (yield* Effect.forEach(pages, (page) =>
    Effect.map(fs.readFileString(path.join(root, page)), (text) =>
      installLines(page, text)))).flat()
  if (lines.length < 8) {
    return yield* Effect.fail(new CommandFailed(`Only ${lines.length} lines install packages`))
  }
  const folders = new Map<string, string>()
  const install = Effect.fnUntraced(function*({ block, line, page }: InstallLine) {
    const key = `${page} ${block}`
    const folder = folders.get(key) ?? (yield* temporary)
    if (!folders.has(key)) {
      yield* fs.writeFileString(path.join(folder, "package.json"), "{\"type\":\"module\"}")
    }
    folders.set(key, folder)
    const local = line.replace("npm i -g", `npm i -g --prefix ${folder}/global`)
    yield* /@effect-3|-g|\/promise$/.test(line)
      ? run(folder, "bash", "-c", local)
      : onNode24(folder, local)
  })
  for (const each of lines) {
    yield* step(`${each.page}: ${each.line}`, install(each))
  }

  yield* Console.log("A new service")
  yield* createServices(yield* fs.readFileString(path.join(root, "docs/get-started.md")), ours)

  const readmeLine = (part: string) =>
    lines.find(({ line, page }) =>
      page === "README.md" && line.includes(part)
    )
  const lineOf3 = readmeLine("@credit-data/core@effect-3")
  const first = folders.get(`README.md ${lineOf3?.block}`) ?? ""
  const globalFolder = folders.get(`packages/cli/README.md ${lines.find(({ line }) => line.includes("-g"))?.block}`) ??
    ""
  const command = path.join(globalFolder, "global/lib/node_modules/@credit-data/cli/dist/credit-data.js")
  yield* step(
    "npx @credit-data/cli --version",
    Effect.flatMap(temporary, (folder) => run(folder, "npx", "-y", "@credit-data/cli", "--version"))
  )
  yield* step(
    "the commands of the simulator's Dockerfile",
    Effect.gen(function*() {
      const node = (yield* run(root, "npx", "-y", "node@24", "-p", "process.execPath")).trim()
      const dockerfile = path.join(root, "packages/simulator/Dockerfile")
      yield* Command.getToken([process.execPath, command], yield* walkDockerfile(dockerfile, node, yield* temporary))
    }).pipe(Effect.scoped)
  )
  yield* step("credit-data token, installed for all users", Command.getSimulatedToken([process.execPath], command))

  /** Runs a program against a simulator. */
  const runProgram = Effect.fnUntraced(function*(folder: string, source: string) {
    const variables = yield* Simulator.variables
    yield* fs.writeFileString(path.join(folder, "program.ts"), source)
    const { exitCode, stderr, stdout } = yield* runProcess(
      ["npx", "-y", "node@24", "program.ts"],
      { cwd: folder, env: { ...variables, CREDIT_DATA_SCOPES: "data-access:all" } }
    )
    if (exitCode !== 0 || !stdout.includes("200")) {
      return yield* Effect.fail(new CommandFailed(`The program printed\n${stdout}\n${stderr}`))
    }
  }, Effect.provide(Simulator.layer()))
  const programOf = (text: string, language: string) => text.split(`\`\`\`${language}\n`)[1]?.split("\n```")[0] ?? ""
  const programs = {
    three: programOf(yield* fs.readFileString(path.join(root, "README.md")), "ts"),
    four: programOf(yield* fs.readFileString(path.join(root, "docs/effect-4.md")), "ts effect-4")
  }
  const second = yield* temporary
  yield* fs.writeFileString(path.join(second, "package.json"), "{\"type\":\"module\"}")
  const lineOf4 = readmeLine("@credit-data/core ")?.line ?? ""
  yield* step(`Effect 4: ${lineOf4}`, onNode24(second, lineOf4))
  yield* step("the first program on Effect 3", runProgram(first, programs.three))
  yield* step("the first program on Effect 4", runProgram(second, programs.four))
  yield* expectFailure(
    "a wrong pair of lines is refused",
    Effect.flatMap(
      temporary,
      (folder) => run(folder, "npm", "i", "@credit-data/core@latest", "@credit-data/auth-v2@latest", "effect@3")
    )
  )

  yield* Console.log("A minor release, whose fifth package cannot be published at first")
  yield* change("minor", "Something new.")
  yield* version
  yield* way.failAfter(4)
  yield* expectFailure("publish, with a failure", publish)
  yield* step(
    "what is published so far can be installed with the rest",
    Effect.flatMap(temporary, (folder) =>
      Effect.zipRight(
        fs.writeFileString(path.join(folder, "package.json"), "{\"type\":\"module\"}"),
        onNode24(folder, lineOf4)
      ))
  )
  yield* step("publish again, which completes it", publish)
  yield* step("tags", checkTags("1.1.0", "2.1.0"))
  yield* step(
    "upgrade only core on Effect 3, and the other packages keep the core of their own release",
    Effect.gen(function*() {
      yield* run(first, "npm", "i", "@credit-data/core@effect-3")
      const core = path.join(first, "node_modules/@credit-data/auth-v2/node_modules/@credit-data/core/package.json")
      const { version }: { readonly version: string } = JSON.parse(yield* fs.readFileString(core))
      if (version !== "1.0.0") return yield* Effect.fail(new CommandFailed(`auth-v2 uses core ${version}`))
    })
  )
  yield* step("the first program", runProgram(first, programs.three))
  yield* step("upgrade all on Effect 3", run(first, "bash", "-c", lineOf3?.line ?? ""))
  yield* step("the first program", runProgram(first, programs.three))
  yield* step("upgrade all on Effect 4", onNode24(second, "npm update"))
  yield* step("the first program", runProgram(second, programs.four))

  yield* Console.log("A breaking release")
  yield* change("major", "Something else.")
  yield* version
  yield* step("publish", publish)
  yield* step("tags", checkTags("3.0.0", "4.0.0"))

  yield* Console.log("Planted mistakes are found")
  yield* expectFailure(
    "a page with a package that does not exist",
    Effect.forEach(installLines("a page", "```sh\nnpm i @credit-data/no-such-package@effect-3\n```"), install)
  )
  const tarball = path.join(clone, "tarballs/effect-3/credit-data-core-3.0.0.tgz")
  const unpacked = yield* temporary
  yield* run(unpacked, "tar", "-xzf", tarball)
  yield* fs.remove(path.join(unpacked, "package/dist/index.js"))
  yield* run(unpacked, "tar", "-czf", "lacking.tgz", "package")
  yield* expectFailure("a missing file in a tarball", checkContents(path.join(unpacked, "lacking.tgz")))
  const manifest = path.join(unpacked, "package/package.json")
  yield* fs.writeFileString(
    manifest,
    (yield* fs.readFileString(manifest)).replace("\"effect\": \"^3", "\"effect\": \"^2")
  )
  yield* run(unpacked, "tar", "-czf", "wrong.tgz", "package")
  yield* expectFailure(
    "a wrong range of a peer",
    Effect.flatMap(temporary, (folder) => run(folder, "npm", "i", path.join(unpacked, "wrong.tgz"), "effect@3"))
  )
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer), NodeRuntime.runMain)
