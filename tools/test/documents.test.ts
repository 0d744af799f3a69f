import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { JSDOM } from "jsdom"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath, pathToFileURL } from "node:url"
import { repositoryFiles } from "../src/repositoryFiles.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const manifest = Schema.decodeSync(
  Schema.parseJson(Schema.Struct({ scripts: Schema.Record({ key: Schema.String, value: Schema.String }) }))
)
const read = (path: string) => readFileSync(`${root}${path}`, "utf8")

const pages = repositoryFiles.filter((path) => path.endsWith(".md") && !/(^|\/)\.\w+\//.test(path))

/** What stands between backticks, outside blocks of code. */
const quoted = (text: string) =>
  [...text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) => code ?? [])

/** The anchors that GitHub gives to the headings of a page. */
const anchorsOf = (text: string) =>
  [...text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading.toLowerCase().replace(/[^\w\s-]/g, "").trim().replaceAll(" ", "-")
  )

describe.each(pages)("%s", (page) => {
  const named = quoted(read(page)).filter((code) => /^(packages|examples|tests|benchmarks|docs)\/[\w./-]+/.test(code))
    .map((code) => code.split(" › "))

  it("names files that exist, and tests that are in them", () => {
    for (const [path = "", title = ""] of named) {
      assert.isTrue(existsSync(`${root}${path}`), path)
      if (title !== "") assert.include(read(path), title, path)
    }
  })

  it("links to files that exist", () => {
    for (const [, target = ""] of read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      assert.isTrue(existsSync(fileURLToPath(new URL(target, pathToFileURL(`${root}${page}`)))), target)
    }
  })

  it("links to headings that exist", () => {
    for (const [, target = "", anchor = ""] of read(page).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)) {
      const file = target === ""
        ? page
        : fileURLToPath(new URL(target, pathToFileURL(`${root}${page}`))).slice(root.length)
      assert.include(anchorsOf(read(file)), anchor, `${target}#${anchor}`)
    }
  })

  it("names commands that exist", () => {
    const { scripts } = manifest(read("package.json"))
    const ofEffect4 = manifest(read("effect-4/package.json")).scripts
    for (const [, other, command = ""] of read(page).matchAll(/pnpm@\S+ (--dir effect-4 )?(?:run )?([\w:-]+)/g)) {
      const known = other === undefined ? scripts : ofEffect4
      assert.isTrue(command in known || ["install", "exec"].includes(command), command)
    }
    // each starts with the command that stands before the table
    if (page === "CONTRIBUTING.md") {
      const [tables = ""] = read(page).split("## Where things are")
      const named = [...tables.matchAll(/^\| `(?:run )?([\w:-]+)[^`|]*` +\| \w+ /gm)].flatMap(([, command]) =>
        command ?? []
      )
      assert.isAbove(named.length, 15)
      for (const command of named) assert.isTrue(command in scripts || command === "exec", command)
    }
    for (const [, file = ""] of read(page).matchAll(/exec tsx ([\w/.-]+)/g)) {
      assert.isTrue(existsSync(`${root}${file}`), file)
    }
  })
})

it.each(["pnpm-lock.yaml", "effect-4/pnpm-lock.yaml"])(
  "%s names no host",
  (lockfile) => assert.notMatch(read(lockfile), /https?:\/\//)
)

it("no dependency may run a script when it is installed", () => {
  const workspace = read("pnpm-workspace.yaml")
  assert.include(workspace, "strictDepBuilds: true")
  const [, allowed = ""] = /^allowBuilds:\n((?: {2}.*\n)+)/m.exec(workspace) ?? []
  for (const line of allowed.trim().split("\n")) assert.match(line, /: false$/)
})

it("no example puts a value into a path without encoding it", () => {
  const copied = repositoryFiles.filter((path) =>
    /\.md$|^examples\/src\/.*\.ts$|^packages\/[\w-]+\/src\/.*\.ts$/.test(path) ||
    path === "tests/integration/test/recipeExample.test.ts"
  )
  const found = copied.flatMap((path) => {
    const text = path.startsWith("packages/") ? (read(path).match(/^ *\*.*$/gm) ?? []).join("\n") : read(path)
    return [...text.matchAll(/`\/[^`\n]*\$\{.*$/gm)].map(([code]) => `${path}: ${code}`)
  })
  assert.deepStrictEqual(found, [])
})

it("the troubleshooting page quotes messages that are printed", () => {
  const sources = readdirSync(`${root}packages`).flatMap((name) =>
    readdirSync(`${root}packages/${name}/src`, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.c?ts$/.test(file))
      .map((file) => read(`packages/${name}/src/${file}`))
  )
  // a long message is several literals in the source
  const printed = sources.join("\n").replaceAll(/["`] \+\s*["`]/g, "")
  const firstCells = [...read("docs/troubleshooting.md").matchAll(/^\| `([^`]+)` +\|/gm)].flatMap(([, text]) =>
    text ?? []
  )
  assert.isAbove(firstCells.length, 25)
  for (const text of firstCells) assert.include(printed, text)
})

it("every drawing can be drawn", async () => {
  // Mermaid cleans labels with what a browser has
  const { window } = new JSDOM("")
  Object.assign(globalThis, { window, document: window.document })
  const { default: mermaid } = await import("mermaid")
  const drawings = pages.flatMap((page) =>
    [...read(page).matchAll(/^```mermaid\n([\s\S]*?)^```$/gm)].flatMap(([, code]) => code ?? [])
  )
  assert.isAbove(drawings.length, 2)
  for (const drawing of drawings) await mermaid.parse(drawing)
  const broken = await mermaid.parse("graph LR\n  a --", { suppressErrors: true })
  assert.isFalse(broken)
})
