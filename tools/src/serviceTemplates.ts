// Writes what `npm create credit-data` copies, into the folders `effect-3`, `effect-4` and `promise` of the folder in its argument: a service example
// with its test, and the files of packages/create-credit-data/templates with exact versions.

import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"
import { versionOf, withoutGone } from "../../effect-4/packages.ts"
import { rewrite } from "../../effect-4/src/rewrite.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const own = join(root, "packages/create-credit-data")
const read = (file: string): string => readFileSync(join(root, file), "utf8")

interface Line {
  readonly folder: string
  /** The folders of packages/create-credit-data/templates whose files it gets. */
  readonly templates: ReadonlyArray<string>
  /** The folder of the example and of its test. */
  readonly example: string
  readonly node: string
  /** The file that has the exact versions of other packages. */
  readonly catalog: string
  /** The source for this version of Effect. */
  readonly source: (file: string) => string
  /** The version of these packages that goes with the version of their Effect 3 sources. */
  readonly version: (version: string) => string
  readonly dependencies: (versions: Record<string, string>) => Record<string, string>
  readonly scripts: Record<string, string>
  readonly devDependencies: Record<string, string>
}

const effect4 = {
  node: ">=22.19.0",
  catalog: "effect-4/pnpm-workspace.yaml",
  source: (file) => {
    const override = `effect-4/overrides/${file}`
    return existsSync(join(root, override)) ? read(override) : rewrite(file, read(file), new Map())
  },
  version: versionOf,
  dependencies: withoutGone,
  // this Node runs TypeScript
  scripts: { start: "node src/local.ts", serve: "node --env-file=.env src/main.ts" },
  devDependencies: {}
} satisfies Partial<Line>

const onNode20 = {
  node: ">=20.19.0",
  catalog: "pnpm-workspace.yaml",
  source: read,
  version: (version) => version,
  dependencies: (versions) => versions,
  scripts: {
    start: "node --import tsx src/local.ts",
    build: "tsc -p tsconfig.build.json",
    serve: "npm run build && node --env-file=.env dist/main.js"
  },
  devDependencies: { tsx: "catalog:" }
} satisfies Partial<Line>

const lines: ReadonlyArray<Line> = [
  { ...onNode20, folder: "effect-3", templates: ["all", "effect", "build"], example: "service" },
  { ...effect4, folder: "effect-4", templates: ["all", "effect", "source"], example: "service" },
  { ...onNode20, folder: "promise", templates: ["all", "promise", "build"], example: "promise-service" }
]

/** The files of an example, by their paths in the new folder. */
const sourcesOf = (example: string) =>
  Object.fromEntries(
    [["src", `examples/src/${example}`], ["test", `examples/test/${example}`]].flatMap(
      ([to, from]) => readdirSync(join(root, from ?? "")).map((name) => [`${to}/${name}`, `${from}/${name}`])
    )
  )

const exact = ({ catalog, dependencies, version }: Line, specifiers: Record<string, string>) => {
  const versions: Readonly<Record<string, string>> = parse(read(catalog)).catalog
  return Object.fromEntries(
    Object.keys(dependencies(specifiers)).map((name) => {
      const own = (): string => JSON.parse(read(`${name.replace("@credit-data", "packages")}/package.json`)).version
      // the command has one version for both
      const found = name === "@credit-data/cli"
        ? own()
        : name.startsWith("@credit-data/")
        ? version(own())
        : versions[name]
      if (found === undefined) throw new Error(`${catalog} has no version of ${name}.`)
      return [name, found]
    })
  )
}

const target = resolve(process.argv[2] ?? "")
for (const line of lines) {
  const folder = join(target, line.folder)
  for (const name of line.templates) cpSync(join(own, "templates", name), folder, { recursive: true })
  const { dependencies, devDependencies, ...manifest } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8")
  )
  const written = {
    ...manifest,
    scripts: { ...line.scripts, test: "vitest run", check: "tsc" },
    engines: { node: line.node },
    dependencies: exact(line, dependencies),
    devDependencies: exact(line, { ...devDependencies, ...line.devDependencies })
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(written, undefined, 2)}\n`)
  for (const [to, from] of Object.entries(sourcesOf(line.example))) {
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    writeFileSync(join(folder, to), line.source(from).replaceAll(`../../src/${line.example}/`, "../src/"))
  }
  // the rules for Effect 4 write long lines
  execFileSync(join(root, "node_modules/.bin/dprint"), [
    "fmt",
    "--config",
    join(root, "dprint.json"),
    "{src,test}/*.ts"
  ], {
    cwd: folder
  })
}
