import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { effect4 } from "../effect4.ts"
import * as effect3 from "../line/line.ts"
import * as lines from "../packages.ts"
import { median } from "../report.ts"
import { type Peer, peers, type Supply, us, us4 } from "./peers.ts"

/** The figures of one scenario, by the name of the library. */
export interface Result {
  readonly scenario: string
  readonly unit: string
  readonly values: Readonly<Record<string, number>>
  /** What Effect alone costs on the line of a library, by the name of the library. */
  readonly floors?: Readonly<Record<string, number>>
  /** A lower figure is not better here. */
  readonly isInformation?: true
}

const pause = (millis: number) => new Promise((resume) => setTimeout(resume, millis))

let id = 0

interface Endpoint {
  readonly delay?: number
  readonly lifetime?: number
  readonly failing?: number
}

/** A separate base on the token server, and the number of token requests that it received. */
const endpoint = (url: string, { delay = 0, failing = 0, lifetime = 3_600 }: Endpoint = {}) => {
  const name = `run${++id}`
  return {
    base: `${url}/${name}/${delay}/${lifetime}/${failing}`,
    count: async () => {
      const body: unknown = await (await fetch(`${url}/count/${name}`)).json()
      return typeof body === "object" && body !== null && "count" in body ? Number(body.count) : Number.NaN
    }
  }
}

/** Runs every measurement once per round, and returns the medians. */
const interleaved = async (
  rounds: number,
  measured: Readonly<Record<string, () => Promise<number>>>
): Promise<Record<string, number>> => {
  const figures = Object.keys(measured).map((name): readonly [string, Array<number>] => [name, []])
  for (let round = 0; round <= rounds; round++) {
    for (const [name, values] of round % 2 === 0 ? figures : figures.toReversed()) {
      // a measurement must not collect the garbage of another
      globalThis.gc?.()
      const value = await measured[name]?.()
      // the first round is a warm-up
      if (value !== undefined && round > 0) values.push(value)
    }
  }
  return Object.fromEntries(figures.map(([name, values]) => [name, median(values)]))
}

/** Measures all libraries at the same time, because each takes long and little of the machine. */
const ofAll = async <A>(measure: (peer: Peer) => Promise<A>): Promise<Record<string, A>> =>
  Object.fromEntries(await Promise.all(peers.map(async (peer) => [peer.name, await measure(peer)] as const)))

/** Measures one library after the other. */
const ofEach = async <A>(measure: (peer: Peer) => Promise<A>): Promise<Record<string, A>> => {
  const values: Array<readonly [string, A]> = []
  for (const peer of peers) values.push([peer.name, await measure(peer)])
  return Object.fromEntries(values)
}

const lineOf = { [us]: effect3, [us4]: await effect4 }

const floorName = (name: string) => `the floor of ${name}`

/** Separates the floors from the libraries. */
const split = (all: Readonly<Record<string, number>>): Pick<Result, "values" | "floors"> => ({
  values: Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith(floorName("")))),
  floors: Object.fromEntries(Object.keys(lineOf).map((name) => [name, all[floorName(name)] ?? Number.NaN]))
})

/** Measures the libraries and the floors in turns. */
const withFloors = async (
  rounds: number,
  measured: Readonly<Record<string, () => Promise<number>>>,
  floor: (line: typeof effect3) => Promise<() => Promise<number>>
): Promise<Pick<Result, "values" | "floors">> => {
  const floors: Record<string, () => Promise<number>> = {}
  for (const [name, line] of Object.entries(lineOf)) floors[floorName(name)] = await floor(line)
  const all = await interleaved(rounds, { ...measured, ...floors })
  return split(all)
}

/** The time to get a cached token as a Promise. */
const cached = async (url: string): Promise<Result> => {
  const times = 20_000
  const time = ({ get }: Supply) => async () => {
    await get()
    const start = performance.now()
    for (let time = 0; time < times; time++) await get()
    return ((performance.now() - start) * 1_000) / times
  }
  const supplies = await ofEach((peer) => peer.make(endpoint(url).base))
  const figures = await withFloors(
    9,
    Object.fromEntries(Object.entries(supplies).map(([name, supply]) => [name, time(supply)])),
    async (line) => time(await line.makeCachedFloor())
  )
  for (const { dispose } of Object.values(supplies)) await dispose()
  return { scenario: "a cached token", unit: "µs", ...figures }
}

/** Many concurrent callers without a token: the token requests that they cause, and the time that they take. */
const cold = async (url: string, callers: number): Promise<ReadonlyArray<Result>> => {
  const requests: Record<string, number> = {}
  const at = (make: (base: string) => Promise<Supply>, name: string) => async () => {
    const { base, count } = endpoint(url, { delay: 50 })
    const { dispose, get } = await make(base)
    const start = performance.now()
    await Promise.allSettled(Array.from({ length: callers }, get))
    const time = performance.now() - start
    requests[name] = await count()
    await dispose()
    return time
  }
  const { floors, values } = await withFloors(
    callers > 1_000 ? 5 : 7,
    Object.fromEntries(peers.map((peer) => [peer.name, at(peer.make, peer.name)])),
    (line) => Promise.resolve(at(line.makeColdFloor, "floor"))
  )
  const { floor: _, ...counted } = requests
  const many = callers.toLocaleString("en").replace(",", " ")
  return [
    { scenario: `${many} cold callers, token requests`, unit: "", values: counted },
    { scenario: `${many} cold callers, an endpoint that takes 50 ms`, unit: "ms", values, ...(floors && { floors }) }
  ]
}

/** When a token ends, as its claims say. */
const endOf = (token: string): number => {
  const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())
  return typeof claims === "object" && claims !== null && "expiresAt" in claims ? Number(claims.expiresAt) : Number.NaN
}

/** Requests a token again and again, and counts slow calls and expired tokens. */
const load = async ({ get }: Supply, time: number, callsPerSecond = 200) => {
  let expired = 0
  let slow = 0
  const calls: Array<Promise<void>> = []
  const ends = performance.now() + time
  while (performance.now() < ends) {
    const start = performance.now()
    calls.push(
      get().then((token) => {
        if (performance.now() - start > 20) slow++
        if (!(Date.now() < endOf(token))) expired++
      }, () => {})
    )
    await pause(1_000 / callsPerSecond)
  }
  await Promise.allSettled(calls)
  return { expired, slow }
}

/** What happens at the ends of tokens, under load, with an endpoint that takes 50 ms. */
const expiring = async (
  url: string,
  { callsPerSecond, each, lifetime, seconds }: {
    readonly lifetime: number
    readonly seconds: number
    readonly callsPerSecond: number
    readonly each: typeof ofEach
  }
): Promise<ReadonlyArray<Result>> => {
  const results = await each(async (peer) => {
    const { base, count } = endpoint(url, { delay: 50, lifetime })
    const supply = await peer.make(base)
    await supply.get()
    const outcome = await load(supply, seconds * 1_000, callsPerSecond)
    await supply.dispose()
    return { ...outcome, requests: await count() }
  })
  const of = (what: "expired" | "slow" | "requests") =>
    Object.fromEntries(Object.entries(results).map(([name, result]) => [name, result[what]]))
  const scenario = `tokens of ${lifetime} s for ${seconds} s`
  return [
    { scenario: `${scenario}, expired tokens that callers got`, unit: "", values: of("expired") },
    { scenario: `${scenario}, calls over 20 ms`, unit: "", values: of("slow") },
    { scenario: `${scenario}, token requests`, unit: "", values: of("requests"), isInformation: true }
  ]
}

/** The token requests to an endpoint that fails for 3 s, under load, without a token. */
const failing = async (url: string): Promise<Result> => {
  const values = await ofEach(async (peer) => {
    const { base, count } = endpoint(url, { failing: 60_000 })
    const supply = await peer.make(base)
    await load(supply, 3_000)
    const requests = await count()
    await supply.dispose()
    return requests
  })
  return { scenario: "an endpoint that fails for 3 s, 200 calls per second, token requests", unit: "", values }
}

/** The CPU time of an authenticated call over fetch, 32 in flight. */
const calls = async (url: string): Promise<Result> => {
  const times = 500
  const cpu = async (call: () => Promise<unknown>) => {
    const before = process.cpuUsage()
    let left = times
    const worker = async () => {
      while (left-- > 0) await call()
    }
    await Promise.all(Array.from({ length: 32 }, worker))
    const { system, user } = process.cpuUsage(before)
    return (system + user) / times
  }
  const path = "/api/data-access/consumers/42"
  const byFetch = ({ get }: Supply) => async () => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${await get()}` } })
    return response.text()
  }
  const { base } = endpoint(url)
  const ours = Object.entries(lineOf).map(([name, line]) => [name, line.makeCalls(url, path, base)] as const)
  const { [us]: _, [us4]: __, ...supplies } = await ofEach((peer) => peer.make(endpoint(url).base))
  const figures = await withFloors(
    9,
    Object.fromEntries([
      ...ours.map(([name, { call }]) => [name, () => cpu(call)] as const),
      ...Object.entries(supplies).map(([name, supply]) => [name, () => cpu(byFetch(supply))] as const)
    ]),
    (line) => {
      const { call } = line.makeBareCalls(url, path)
      return Promise.resolve(() => cpu(call))
    }
  )
  for (const [, { dispose }] of ours) await dispose()
  return { scenario: "CPU of an authenticated call over fetch, 32 in flight", unit: "µs", ...figures }
}

const folder = fileURLToPath(new URL("..", import.meta.url))

const own = "export * as a from '@credit-data/auth-v2'; export * as b from '@credit-data/http-client'"

/** The imports that are bundled for each library. */
const programs: Readonly<Record<string, string>> = {
  [us]: own,
  [us4]: own,
  [floorName(us)]:
    "export * as a from '@effect/platform/FetchHttpClient'; export * as b from '@effect/platform/HttpClient'; " +
    "export * as c from 'effect/Effect'; export * as d from 'effect/Layer'",
  [floorName(us4)]: "export * as a from 'effect/http/FetchHttpClient'; export * as b from 'effect/http/HttpClient'; " +
    "export * as c from 'effect/Effect'; export * as d from 'effect/Layer'",
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

/** The size of the bundle of each library, and the time in which a new process loads it. */
const loading = async (): Promise<ReadonlyArray<Result>> => {
  const { readFile } = await import("node:fs/promises")
  const sizes: Record<string, number> = {}
  const times: Record<string, () => Promise<number>> = {}
  const run = promisify(execFile)
  for (const [index, [name, contents]] of Object.entries(programs).entries()) {
    await bundled(contents, `program${index}`, name === us4 || name === floorName(us4) ? lines.effect4 : lines.effect3)
    const file = `${folder}dist/cold/program${index}.mjs`
    sizes[name] = gzipSync(await readFile(file)).length / 1_000
    const script = `const s=performance.now();await import(${JSON.stringify(file)});console.log(performance.now()-s)`
    times[name] = async () => Number((await run(process.execPath, ["--input-type=module", "-e", script])).stdout)
  }
  return [
    { scenario: "bundle, minified and in gzip", unit: "kB", ...split(sizes) },
    { scenario: "cold import of the bundle", unit: "ms", ...split(await interleaved(9, times)) }
  ]
}

/** Measures all scenarios with the token server at this address. */
export const measure = async (url: string): Promise<ReadonlyArray<Result>> => [
  await cached(url),
  ...await cold(url, 1_000),
  ...await cold(url, 10_000),
  ...await expiring(url, { lifetime: 2, seconds: 6, callsPerSecond: 200, each: ofEach }),
  ...await expiring(url, { lifetime: 180, seconds: 200, callsPerSecond: 50, each: ofAll }),
  await failing(url),
  await calls(url),
  ...await loading()
]
