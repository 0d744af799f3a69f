import { FetchHttpClient, HttpClient } from "@effect/platform"
import { Context, Deferred, Effect, Layer, ManagedRuntime, Redacted, Ref } from "effect"
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

/** The figures of one scenario, by the name of the library. A floor is the cost of the Effect runtime without any library. */
export interface Result {
  readonly scenario: string
  readonly unit: string
  readonly values: Readonly<Record<string, number>>
  /** The name of the floor among the values, if most of the cost is the Effect runtime. */
  readonly floor?: string
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

const ofEach = async <A>(measure: (peer: Peer) => Promise<A>): Promise<Record<string, A>> => {
  const values: Array<readonly [string, A]> = []
  for (const peer of peers) values.push([peer.name, await measure(peer)])
  return Object.fromEntries(values)
}

/** The floor: the Effect runtime and a token in a Ref or a Deferred. */
class Kept extends Context.Tag("Kept")<Kept, { readonly get: Effect.Effect<Redacted.Redacted> }>() {}

/** The program of the floors: it gets a token from a service. */
const kept = Effect.map(Effect.flatMap(Kept, ({ get }) => get), Redacted.value)

/** The time to get a cached token as a Promise. */
const cached = async (url: string): Promise<Result> => {
  const times = 20_000
  const supplies = await ofEach((peer) => peer.make(endpoint(url).base))
  const runtime = ManagedRuntime.make(
    Layer.effect(Kept, Effect.map(Ref.make(Redacted.make("token")), (ref) => ({ get: Ref.get(ref) })))
  )
  const floor: Supply = { get: () => runtime.runPromise(kept), dispose: () => runtime.dispose() }
  const name = "a Ref, by runPromise"
  const all = { ...supplies, [name]: floor }
  const values = await interleaved(
    9,
    Object.fromEntries(
      Object.entries(all).map(([name, { get }]) => [name, async () => {
        await get()
        const start = performance.now()
        for (let time = 0; time < times; time++) await get()
        return ((performance.now() - start) * 1_000) / times
      }])
    )
  )
  for (const { dispose } of Object.values(all)) await dispose()
  return { scenario: "a cached token", unit: "µs", values, floor: name }
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
  const floor = async (base: string): Promise<Supply> => {
    const token = Effect.runSync(Deferred.make<Redacted.Redacted>())
    // the first caller starts the request, as in every library
    const request = Effect.runSync(Effect.once(Effect.sync(() => {
      void fetch(`${base}/oauth2/token`, { method: "POST" }).then(() =>
        Effect.runSync(Deferred.succeed(token, Redacted.make("token")))
      )
    })))
    const runtime = ManagedRuntime.make(
      Layer.succeed(Kept, { get: Effect.zipRight(request, Deferred.await(token)) })
    )
    await runtime.runtime()
    return { get: () => runtime.runPromise(kept), dispose: () => runtime.dispose() }
  }
  const name = "a Deferred, by runPromise"
  const times = await interleaved(callers > 1_000 ? 5 : 7, {
    ...Object.fromEntries(peers.map((peer) => [peer.name, at(peer.make, peer.name)])),
    [name]: at(floor, name)
  })
  const many = callers.toLocaleString("en").replace(",", " ")
  const { [name]: _, ...counted } = requests
  return [
    { scenario: `${many} cold callers, token requests`, unit: "", values: counted },
    { scenario: `${many} cold callers, an endpoint that takes 50 ms`, unit: "ms", values: times, floor: name }
  ]
}

/** Requests a token 200 times a second, and counts slow calls and expired tokens. */
const load = async ({ get }: Supply, time: number) => {
  let expired = 0
  let slow = 0
  const calls: Array<Promise<void>> = []
  const ends = performance.now() + time
  while (performance.now() < ends) {
    const start = performance.now()
    calls.push(
      get().then((token) => {
        if (performance.now() - start > 20) slow++
        if (Date.now() >= Number(token.split(".")[1])) expired++
      }, () => {})
    )
    await pause(5)
  }
  await Promise.allSettled(calls)
  return { expired, slow }
}

/** Tokens that live for 2 s, under load for 6 s, from an endpoint that takes 50 ms. */
const expiring = async (url: string): Promise<ReadonlyArray<Result>> => {
  const results = await ofEach(async (peer) => {
    const { base, count } = endpoint(url, { delay: 50, lifetime: 2 })
    const supply = await peer.make(base)
    await supply.get()
    const outcome = await load(supply, 6_000)
    await supply.dispose()
    return { ...outcome, requests: await count() }
  })
  const of = (what: "expired" | "slow" | "requests") =>
    Object.fromEntries(Object.entries(results).map(([name, result]) => [name, result[what]]))
  return [
    { scenario: "tokens of 2 s for 6 s, expired tokens that callers got", unit: "", values: of("expired") },
    { scenario: "tokens of 2 s for 6 s, calls over 20 ms", unit: "", values: of("slow") },
    { scenario: "tokens of 2 s for 6 s, token requests", unit: "", values: of("requests"), isInformation: true }
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
  const ours = effect3.makeCalls(url, path, base)
  const ours4 = (await effect4).makeCalls(url, path, base)
  const runtime = ManagedRuntime.make(FetchHttpClient.layer)
  const floor = "Effect's HttpClient, no token"
  const bare = Effect.flatMap(HttpClient.get(url + path), ({ text }) => text)
  const { [us]: _, [us4]: __, ...supplies } = await ofEach((peer) => peer.make(endpoint(url).base))
  const values = await interleaved(9, {
    [us]: () => cpu(ours.call),
    [us4]: () => cpu(ours4.call),
    [floor]: () => cpu(() => runtime.runPromise(bare)),
    ...Object.fromEntries(Object.entries(supplies).map(([name, supply]) => [name, () => cpu(byFetch(supply))]))
  })
  await Promise.all([runtime, ours, ours4].map((each) => each.dispose()))
  return { scenario: "CPU of an authenticated call over fetch, 32 in flight", unit: "µs", values, floor }
}

const folder = fileURLToPath(new URL("..", import.meta.url))
const platform = "effect and @effect/platform"
const platform4 = "effect 4"

const own = "export * as a from '@credit-data/auth-v2'; export * as b from '@credit-data/http-client'"

/** The imports that are bundled for each library. */
const programs: Readonly<Record<string, string>> = {
  [us]: own,
  [us4]: own,
  [platform]:
    "export * as a from '@effect/platform/FetchHttpClient'; export * as b from '@effect/platform/HttpClient'; " +
    "export * as c from 'effect/Effect'; export * as d from 'effect/Layer'",
  [platform4]: "export * as a from 'effect/http/FetchHttpClient'; export * as b from 'effect/http/HttpClient'; " +
    "export * as c from 'effect/Effect'; export * as d from 'effect/Layer'",
  "@badgateway/oauth2-client": "export * from '@badgateway/oauth2-client'",
  "simple-oauth2": "export * from 'simple-oauth2'",
  "openid-client": "export * from 'openid-client'",
  "@azure/core-rest-pipeline": "export * from '@azure/core-rest-pipeline'",
  "google-auth-library": "export * from 'google-auth-library'"
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
    await bundled(contents, `program${index}`, name === us4 || name === platform4 ? lines.effect4 : lines.effect3)
    const file = `${folder}dist/cold/program${index}.mjs`
    sizes[name] = gzipSync(await readFile(file)).length / 1_000
    const script = `const s=performance.now();await import(${JSON.stringify(file)});console.log(performance.now()-s)`
    times[name] = async () => Number((await run(process.execPath, ["--input-type=module", "-e", script])).stdout)
  }
  return [
    { scenario: "bundle, minified and in gzip", unit: "kB", values: sizes, floor: platform },
    { scenario: "cold import of the bundle", unit: "ms", values: await interleaved(9, times), floor: platform }
  ]
}

/** Measures all scenarios with the token server at this address. */
export const measure = async (url: string): Promise<ReadonlyArray<Result>> => [
  await cached(url),
  ...await cold(url, 1_000),
  ...await cold(url, 10_000),
  ...await expiring(url),
  await failing(url),
  await calls(url),
  ...await loading()
]
