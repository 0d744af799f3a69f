import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { build, transform } from "esbuild"
import * as lines from "../packages.ts"
import { ballatechName, peers, us, us4 } from "./peers.ts"
import type { Result } from "./result.ts"
import { floorName, interleaved, lineOf } from "./turns.ts"

const folder = fileURLToPath(new URL("..", import.meta.url))

/** What the program in README.md imports from these packages. */
const own = "export { AuthV2 } from '@credit-data/auth-v2'; export { DataAccess } from '@credit-data/http-client'"

/** A program of Effect alone that sends requests. */
const requests = (http: string) =>
  `export * as a from '${http}/FetchHttpClient'; export * as b from '${http}/HttpClient'; ` +
  "export * as c from 'effect/Effect'; export * as d from 'effect/Layer';"

/** It also reads its credentials from variables, as the first program does. */
const withCredentials = (program: string, text: string, redacted: string) =>
  `${program} import { ${text}, ${redacted} } from 'effect/Config'; export const read = [${text}("ID"), ${redacted}("SECRET")]`

const withCredentialsName = (name: string) => `${floorName(name)} with credentials`

const requests3 = requests("@effect/platform")
const requests4 = requests("effect/http")

/** A program with one call, and the same program without tokens. */
const wholeName = (name: string) => `the program of ${name}`
const wholeFloorName = (name: string) => `${floorName(name)} as a program`
const packed = (line: lines.Line, file: string) =>
  readFileSync(`${line.folder}/../tests/packed/project/${file}.ts`, "utf8")

const programsOf4 = new Set([
  us4,
  ...[floorName, withCredentialsName, wholeName, wholeFloorName].map((nameOf) => nameOf(us4))
])

/** The imports that are bundled for each library. */
const programs: Readonly<Record<string, string>> = {
  [us]: own,
  [us4]: own,
  [floorName(us)]: requests3,
  [floorName(us4)]: requests4,
  [withCredentialsName(us)]: withCredentials(requests3, "string", "redacted"),
  [withCredentialsName(us4)]: withCredentials(requests4, "String", "Redacted"),
  ...Object.fromEntries(
    ([[us, lines.effect3], [us4, lines.effect4]] as const).flatMap(([name, line]) => [
      [wholeName(name), packed(line, "token")],
      [wholeFloorName(name), packed(line, "floor")]
    ])
  ),
  [ballatechName]: "export * from './src/peers/ballatech.ts'",
  ...Object.fromEntries(
    [
      "@badgateway/oauth2-client",
      "simple-oauth2",
      "openid-client",
      "@azure/core-rest-pipeline",
      "@azure/msal-node",
      "undici-oidc-interceptor"
    ]
      .map((name) => [name, `export * from '${name}'`])
  )
}

const bundled = (contents: string, file: string, line: lines.Line) =>
  build({
    stdin: { contents, resolveDir: line.folder, loader: "ts" },
    alias: line.alias,
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    outfile: `${folder}dist/cold/${file}.mjs`,
    metafile: true
  })

/** The values of these packages under the name that `nameOf` makes, and of Effect alone under the name that `floorOf` makes. */
const pick = (
  all: Readonly<Record<string, number>>,
  nameOf: (name: string) => string,
  floorOf: (name: string) => string
): Pick<Result, "values" | "floors"> => {
  const of = (each: (name: string) => string) =>
    Object.fromEntries(Object.keys(lineOf).map((name) => [name, all[each(name)] ?? Number.NaN]))
  return { values: of(nameOf), floors: of(floorOf) }
}

/** The values of all libraries, and of Effect alone. */
const ofAll = (all: Readonly<Record<string, number>>): Pick<Result, "values" | "floors"> => ({
  ...pick(all, (name) => name, floorName),
  values: Object.fromEntries(peers.flatMap(({ name }) => all[name] === undefined ? [] : [[name, all[name]]]))
})

/** The lines of code of a library in a bundle, without its types, comments and dependencies. */
const linesOf = async (inputs: ReadonlyArray<string>, name: string): Promise<number> => {
  const path = name === ballatechName
    ? "src/peers/ballatech.ts"
    : name in lineOf
    ? "packages/"
    : `node_modules/${name.split("/")[0]}/`
  const texts = await Promise.all(
    inputs.filter((file) => file.includes(path) && (!(name in lineOf) || !file.includes("node_modules/"))).map(async (
      file
    ) => (await transform(await readFile(file, "utf8"), { loader: "ts", legalComments: "none" })).code)
  )
  return texts.join("\n").split("\n").filter((line) => line.trim() !== "").length
}

/** The size of the bundle of each library, and the time in which a new process loads it. */
export const loading = async (): Promise<ReadonlyArray<Result>> => {
  const sizes: Record<string, number> = {}
  const lineCounts: Record<string, number> = {}
  const times: Record<string, () => Promise<number>> = {}
  const run = promisify(execFile)
  for (const [index, [name, contents]] of Object.entries(programs).entries()) {
    const { metafile } = await bundled(
      contents,
      `program${index}`,
      programsOf4.has(name) ? lines.effect4 : lines.effect3
    )
    if (peers.some((peer) => peer.name === name)) lineCounts[name] = await linesOf(Object.keys(metafile.inputs), name)
    const file = `${folder}dist/cold/program${index}.mjs`
    sizes[name] = gzipSync(await readFile(file)).length / 1_000
    const script = `const s=performance.now();await import(${JSON.stringify(file)});console.log(performance.now()-s)`
    times[name] = async () => Number((await run(process.execPath, ["--input-type=module", "-e", script])).stdout)
  }
  const imports = await interleaved(21, times)
  return [
    {
      id: "bundle",
      scenario: "bundle of what a program imports, minified and gzipped",
      unit: "kB",
      ...ofAll(sizes),
      atMost: { [us]: 1.1, [us4]: 1.55 }
    },
    {
      scenario: "the bundle, compared with Effect and its Config",
      unit: "kB",
      ...pick(sizes, (name) => name, withCredentialsName),
      atMost: { [us]: 1.09, [us4]: 1.15 }
    },
    {
      scenario: "bundle of a whole program with one call, compared with the same program without tokens",
      unit: "kB",
      ...pick(sizes, wholeName, wholeFloorName),
      atMost: { [us]: 1.25, [us4]: 1.35 }
    },
    {
      scenario: "cold import of the bundle",
      unit: "ms",
      ...ofAll(imports),
      atMost: { [us]: 1.2, [us4]: 1.6 }
    },
    {
      scenario: "cold import, compared with Effect and its Config",
      unit: "ms",
      ...pick(imports, (name) => name, withCredentialsName),
      atMost: { [us]: 1.2, [us4]: 1.3 }
    },
    { id: "lines", scenario: "lines of code, without dependencies", unit: "", values: lineCounts, isInformation: true }
  ]
}
