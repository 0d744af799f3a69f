import { assert, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { installLines, isForEffect3 } from "../src/installLines.ts"
import { bundled } from "../src/pack.ts"

const root = new URL("../../", import.meta.url)
const folders = readdirSync(new URL("packages", root)).filter((name) =>
  existsSync(new URL(`packages/${name}/src/index.ts`, root)) && !bundled.includes(name)
)
const read = (path: string) => readFileSync(new URL(path, root), "utf8")

const releases = folders.map((folder) => {
  const { dependencies = {}, name }: { readonly name: string; readonly dependencies?: Record<string, string> } = JSON
    .parse(read(`packages/${folder}/package.json`))
  return { name, file: `/${folder}.tgz`, dependencies }
})

const pages = ["docs/get-started.md", ...folders.map((folder) => `packages/${folder}/README.md`)].map((page) =>
  read(page).split("\n").filter(isForEffect3).join("\n")
)

it("the install lines with files begin with those of Get started, and each line has the dependencies of its packages", () => {
  const lines = installLines(pages, releases, (file) => file)
  assert.match(lines[0] ?? "", /^npm i \/core.tgz \/auth-v2.tgz \/http-client.tgz effect@3 /)
  // a dependency of the program must not become one of its development
  assert.match(lines[1] ?? "", /^npm i -D \/simulator.tgz @effect\/vitest.*vitest@3 /)
  for (const line of lines) assert.notInclude(line, "@credit-data/")
  for (const { dependencies, file, name } of releases) {
    const line = lines.find((line) => line.includes(file))
    assert(line !== undefined, `no line installs ${name}`)
    for (const dependency of Object.keys(dependencies).filter((dependency) => dependency.startsWith("@credit-data/"))) {
      assert.include(
        line.startsWith("npm i -D") ? `${lines[0]} ${line}` : line,
        `/${dependency.replace("@credit-data/", "")}.tgz`
      )
    }
  }
})
