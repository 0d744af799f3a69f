import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const here = fileURLToPath(new URL("../", import.meta.url))

const declarations = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => /(^|[\\/])[A-Z]\w*\.d\.ts$/.test(file))
      .map((file) => [/(\w+)\.d\.ts$/.exec(file)?.[1] ?? "", readFileSync(join(folder, file), "utf8")])
  )

const effect4 = new Map([
  ...declarations(join(here, "node_modules/effect/dist")),
  ...declarations(join(here, "node_modules/@effect/platform-node/dist"))
])

// without an installation of the other line, only the names of modules that Effect 4 has are checked
const effect3Folders = ["effect/dist/dts", "@effect/platform/dist/dts"].map((path) =>
  join(here, "../node_modules", path)
)
const effect3 = new Map(
  effect3Folders.filter((folder) => existsSync(folder)).flatMap((folder) => [...declarations(folder)])
)

const packages = join(here, "generated/packages")

const sourcesOf = (name: string) =>
  readdirSync(join(packages, name, "src"), { encoding: "utf8" }).filter((file) => file.endsWith(".ts"))

const ours = new Set(readdirSync(packages).flatMap(sourcesOf).map((file) => file.replace(".ts", "")))

/** Where a text mentions names that Effect 4 does not have. */
const problemsIn = (text: string): ReadonlyArray<string> => {
  const spans = Array.from(text.matchAll(/`([A-Z]\w+)(?:\.(\w+))?[^`\n]*`/g))
  return [
    ...(text.match(/@effect-3|effect@3|@effect\/(?:platform|schema)(?!-)|\bEffect 3\b/g) ?? []),
    ...spans.flatMap(([span, module = "", member]) => {
      if (/^(RequestError|ResponseError|InvalidUrl|FiberRef|Either)$/.test(module)) return [span]
      if (member === undefined) return []
      if (ours.has(module)) return []
      const own = effect4.get(module)
      if (own === undefined) return effect3.has(module) ? [span] : []
      return new RegExp(`\\b(?:const|function|class|interface|type|namespace|as) ${member}\\b`).test(own) ? [] : [span]
    })
  ]
}

const comment = /^[ \t]*(?:\/\*\*[^]*?\*\/|\/\/.*)$/gm

const texts = readdirSync(packages).flatMap((name) => {
  return [
    { file: `${name}/README.md`, text: readFileSync(join(packages, name, "README.md"), "utf8") },
    ...sourcesOf(name).map((file) => ({
      file: `${name}/src/${file}`,
      text: (readFileSync(join(packages, name, "src", file), "utf8").match(comment) ?? []).join("\n")
    }))
  ]
})

describe("the prose of the packages for Effect 4", () => {
  for (const { file, text } of texts) {
    it(`${file} names nothing of Effect 3 only`, () => assert.deepStrictEqual(problemsIn(text), []))
  }

  it("is checked: names of Effect 3 are found", () => {
    const planted = [
      "npm i @credit-data/core@effect-3",
      "Use `Effect.catchAll` for it.",
      "It fails with a `RequestError`.",
      "A `Layer.scoped` is closed.",
      "from \"@effect/platform\""
    ]
    for (const sentence of planted) assert.lengthOf(problemsIn(sentence), 1, sentence)
    assert.deepStrictEqual(problemsIn("Use `Effect.catch`, `Layer.effect` and `@effect/platform-node`."), [])
  })
})
