import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { build, transform } from "esbuild"
import * as lines from "../packages.ts"
import { ballatechName, peers, us, us4, usPromise } from "./peers.ts"
import type { Result } from "./result.ts"
import { floorName, interleaved, lineOf } from "./turns.ts"

const folder = fileURLToPath(new URL("..", import.meta.url))

/** The programs of Effect: a call with a token, and the same program without tokens. */
const packed = (line: lines.Line, file: string) =>
  readFileSync(`${line.folder}/../tests/packed/project/${file}.ts`, "utf8")

const ofPromise = `
  import { connect } from "@credit-data/promise"
  export const main = async () => {
    const api = await connect()
    const response = await api.dataAccess("/data-access/consumers/42")
    return response.text()
  }`

const file = (name: string) => `export { makeCalls } from "./src/peers/libraries/${name}.ts"`

const published: lines.Line = {
  folder: lines.effect3.folder,
  alias: { "@credit-data/promise": fileURLToPath(new URL("../../packages/promise/lib/index.js", import.meta.url)) }
}

interface Program {
  /** A program that makes an authenticated call. */
  readonly contents: string
  readonly line: lines.Line
  /** What the library exports, all of it, to count its lines. */
  readonly whole?: { readonly from: string; readonly line: lines.Line; readonly folder: string }
}

const program = (name: string, module: string): Program => ({
  contents: file(module),
  line: lines.effect3,
  whole: { from: name, line: lines.effect3, folder: `node_modules/${name}/` }
})

const ownSources = (line: lines.Line, from: string): NonNullable<Program["whole"]> => ({
  from,
  line,
  folder: "packages/"
})

const programs: Readonly<Record<string, Program>> = {
  [us]: {
    contents: packed(lines.effect3, "token"),
    line: lines.effect3,
    whole: ownSources(lines.effect3, "@credit-data/auth-v2'; export * from '@credit-data/http-client")
  },
  [us4]: {
    contents: packed(lines.effect4, "token"),
    line: lines.effect4,
    whole: ownSources(lines.effect4, "@credit-data/auth-v2'; export * from '@credit-data/http-client")
  },
  [usPromise]: {
    contents: ofPromise,
    line: published,
    whole: ownSources(lines.effect4, "@credit-data/promise")
  },
  [floorName(us)]: { contents: packed(lines.effect3, "floor"), line: lines.effect3 },
  [floorName(us4)]: { contents: packed(lines.effect4, "floor"), line: lines.effect4 },
  "Effect's Cache": { contents: file("effectCache"), line: lines.effect3 },
  [ballatechName]: {
    contents: file("ballatech"),
    line: lines.effect3,
    whole: { from: "./src/peers/libraries/rebuilt.ts", line: lines.effect3, folder: "libraries/rebuilt.ts" }
  },
  "@badgateway/oauth2-client": program("@badgateway/oauth2-client", "badgateway"),
  "simple-oauth2": program("simple-oauth2", "simple"),
  "openid-client": program("openid-client", "openid"),
  "@azure/core-rest-pipeline": program("@azure/core-rest-pipeline", "azure"),
  "@azure/msal-node": program("@azure/msal-node", "msal"),
  "undici-oidc-interceptor": program("undici-oidc-interceptor", "undici")
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

/** The lines of code of a library's own files, without its types, comments and dependencies. */
const linesOf = async ({ folder, from, line }: NonNullable<Program["whole"]>): Promise<number> => {
  const { metafile } = await bundled(`export * from '${from}'`, "lines", line)
  const texts = await Promise.all(
    Object.keys(metafile.inputs)
      .filter((input) => input.includes(folder) && (folder !== "packages/" || !input.includes("node_modules/")))
      .map(async (input) =>
        (await transform(await readFile(input, "utf8"), { loader: "ts", legalComments: "none" })).code
      )
  )
  return texts.join("\n").split("\n").filter((text) => text.trim() !== "").length
}

/** The values of all libraries, and of Effect alone. */
const ofAll = (all: Readonly<Record<string, number>>): Pick<Result, "values" | "floors"> => ({
  values: Object.fromEntries(peers.flatMap(({ name }) => all[name] === undefined ? [] : [[name, all[name]]])),
  floors: Object.fromEntries(Object.keys(lineOf).map((name) => [name, all[floorName(name)] ?? Number.NaN]))
})

/** The size of the bundle of each library, and the time in which a new process loads it. */
export const loading = async (): Promise<ReadonlyArray<Result>> => {
  const sizes: Record<string, number> = {}
  const lineCounts: Record<string, number> = {}
  const times: Record<string, () => Promise<number>> = {}
  const run = promisify(execFile)
  for (const [index, [name, { contents, line, whole }]] of Object.entries(programs).entries()) {
    const output = `program${index}`
    await bundled(contents, output, line)
    if (whole !== undefined) lineCounts[name] = await linesOf(whole)
    const path = `${folder}dist/cold/${output}.mjs`
    sizes[name] = gzipSync(await readFile(path)).length / 1_000
    const script = `const s=performance.now();await import(${JSON.stringify(path)});console.log(performance.now()-s)`
    times[name] = async () => Number((await run(process.execPath, ["--input-type=module", "-e", script])).stdout)
  }
  return [
    {
      id: "bundle",
      scenario: "bundle of a program that makes an authenticated call, minified and gzipped",
      unit: "kB",
      runs: 1,
      ...ofAll(sizes),
      atMost: { [us]: 1.25, [us4]: 1.35 }
    },
    {
      scenario: "cold import of the bundle",
      unit: "ms",
      runs: 21,
      ...ofAll(await interleaved(21, times)),
      atMost: { [us]: 1.2, [us4]: 1.6 }
    },
    {
      id: "lines",
      scenario: "lines of code, without dependencies",
      unit: "",
      runs: 1,
      values: lineCounts,
      isInformation: true
    }
  ]
}
