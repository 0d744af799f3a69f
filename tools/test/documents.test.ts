import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { existsSync, readFileSync } from "node:fs"
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
  it("names files that exist", () => {
    for (const code of quoted(read(page))) {
      const [path] = /^(packages|examples|tests|benchmarks|docs)\/[\w./-]+/.exec(code) ?? []
      if (path !== undefined) assert.isTrue(existsSync(`${root}${path}`), path)
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
    for (const [, file = ""] of read(page).matchAll(/exec tsx ([\w/.-]+)/g)) {
      assert.isTrue(existsSync(`${root}${file}`), file)
    }
  })
})

it.each(["pnpm-lock.yaml", "effect-4/pnpm-lock.yaml"])(
  "%s names no host",
  (lockfile) => assert.notMatch(read(lockfile), /https?:\/\//)
)

it("no example puts a value into a path without encoding it", () => {
  const copied = repositoryFiles.filter((path) =>
    /\.md$|^examples\/src\/.*\.ts$|^packages\/[\w-]+\/src\/.*\.ts$/.test(path)
  )
  const found = copied.flatMap((path) => {
    const text = path.startsWith("packages/") ? (read(path).match(/^ *\*.*$/gm) ?? []).join("\n") : read(path)
    return [...text.matchAll(/`\/[^`\n]*\$\{.*$/gm)].map(([code]) => `${path}: ${code}`)
  })
  assert.deepStrictEqual(found, [])
})
