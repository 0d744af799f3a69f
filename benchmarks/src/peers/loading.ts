import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import * as lines from "../packages.ts"
import { us, us4 } from "./peers.ts"
import type { Result } from "./result.ts"
import { floorName, interleaved, lineOf, split } from "./turns.ts"

const folder = fileURLToPath(new URL("..", import.meta.url))

const own = "export * as a from '@credit-data/auth-v2'; export * as b from '@credit-data/http-client'"

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

const programsOf4 = new Set([us4, floorName(us4), withCredentialsName(us4)])

/** The imports that are bundled for each library. */
const programs: Readonly<Record<string, string>> = {
  [us]: own,
  [us4]: own,
  [floorName(us)]: requests3,
  [floorName(us4)]: requests4,
  [withCredentialsName(us)]: withCredentials(requests3, "string", "redacted"),
  [withCredentialsName(us4)]: withCredentials(requests4, "String", "Redacted"),
  ...Object.fromEntries(
    [
      "@badgateway/oauth2-client",
      "simple-oauth2",
      "openid-client",
      "@azure/core-rest-pipeline",
      "undici-oidc-interceptor"
    ]
      .map((name) => [name, `export * from '${name}'`])
  )
}

const bundled = (contents: string, file: string, line: lines.Line) =>
  build({
    stdin: { contents, resolveDir: line.folder },
    alias: line.alias,
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    outfile: `${folder}dist/cold/${file}.mjs`,
    metafile: true
  })

/** Without the other libraries. */
const ofThese = (all: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => name in lineOf || name.startsWith(floorName(""))))

/** The size of the bundle of each library, and the time in which a new process loads it. */
export const loading = async (): Promise<ReadonlyArray<Result>> => {
  const sizes: Record<string, number> = {}
  const times: Record<string, () => Promise<number>> = {}
  const run = promisify(execFile)
  for (const [index, [name, contents]] of Object.entries(programs).entries()) {
    await bundled(contents, `program${index}`, programsOf4.has(name) ? lines.effect4 : lines.effect3)
    const file = `${folder}dist/cold/program${index}.mjs`
    sizes[name] = gzipSync(await readFile(file)).length / 1_000
    const script = `const s=performance.now();await import(${JSON.stringify(file)});console.log(performance.now()-s)`
    times[name] = async () => Number((await run(process.execPath, ["--input-type=module", "-e", script])).stdout)
  }
  const imports = await interleaved(21, times)
  return [
    {
      scenario: "bundle, minified and gzipped",
      unit: "kB",
      ...split(sizes, floorName),
      atMost: { [us]: 1.14, [us4]: 1.66 }
    },
    {
      scenario: "the bundle, compared with one that reads its credentials",
      unit: "kB",
      ...split(ofThese(sizes), withCredentialsName),
      atMost: { [us]: 1.14, [us4]: 1.25 }
    },
    {
      scenario: "cold import of the bundle",
      unit: "ms",
      ...split(imports, floorName),
      atMost: { [us]: 1.2, [us4]: 1.6 }
    },
    {
      scenario: "cold import, compared with one that reads its credentials",
      unit: "ms",
      ...split(ofThese(imports), withCredentialsName),
      atMost: { [us]: 1.2, [us4]: 1.3 }
    }
  ]
}
