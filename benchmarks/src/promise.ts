import type * as Promises from "@credit-data/promise"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { setMaxListeners } from "node:events"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { startProcess } from "./childServer.ts"
import { downloadBytes } from "./promiseCalls.ts"
import { median, type Measurement } from "./report.ts"

const rounds = 21

/** A `fetch` of one of the sides, with the base URL of the server. */
type Send = (path: string, init?: RequestInit) => Promise<Response>

interface Kind {
  readonly what: string
  readonly atMost: number
  readonly calls: number
  readonly inFlight: number
  readonly call: (send: Send) => Promise<unknown>
}

const ignore = () => {}
const path = "/data-access/consumers/42"
const text = async (response: Promise<Response>) => (await response).text()
const content = "x".repeat(1_000)
const part = new Uint8Array(64 * 1024)

/** A body of 10 MB whose length is not known. */
const upload = (): ReadableStream => {
  let left = downloadBytes
  return new ReadableStream({
    pull: (controller) => {
      controller.enqueue(part.slice(0, left))
      left -= part.length
      if (left <= 0) controller.close()
    }
  })
}

const read = async (response: Promise<Response>) => {
  for await (const chunk of (await response).body ?? []) void chunk
}

const kinds: ReadonlyArray<Kind> = [
  {
    what: "CPU of a GET, 32 in flight",
    atMost: 0.9,
    calls: 1_000,
    inFlight: 32,
    call: (send) => text(send(path))
  },
  { what: "CPU of a GET, one after the other", atMost: 1, calls: 500, inFlight: 1, call: (send) => text(send(path)) },
  {
    what: "CPU of a GET with `AbortSignal.timeout`, 32 in flight",
    atMost: 1,
    calls: 1_000,
    inFlight: 32,
    call: (send) => text(send(path, { signal: AbortSignal.timeout(15_000) }))
  },
  {
    what: "CPU of a POST of 1 kB, 32 in flight",
    atMost: 0.8,
    calls: 1_000,
    inFlight: 32,
    call: (send) => text(send(path, { method: "POST", body: content }))
  },
  {
    what: "CPU of 10 MB down, chunk by chunk",
    atMost: 1,
    calls: 4,
    inFlight: 1,
    call: (send) => read(send("/download"))
  },
  {
    what: "CPU of 10 MB up, as a stream",
    atMost: 1,
    calls: 4,
    inFlight: 1,
    call: (send) => text(send(path, Object.assign({ method: "POST", body: upload() }, { duplex: "half" })))
  }
]

/** The CPU time of a call, in microseconds. */
const cpu = async ({ call, calls, inFlight }: Kind, send: Send): Promise<number> => {
  let left = calls
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (left-- > 0) await call(send)
  }))
  const { system, user } = process.cpuUsage(before)
  return (system + user) / calls
}

/** The quotients of pairs of rounds. Which side begins changes, because the collection of garbage falls into one of them. */
const inPairs = async (kind: Kind, ours: Send, floor: Send) => {
  const figures: { readonly ours: Array<number>; readonly floor: Array<number> } = { ours: [], floor: [] }
  for (let round = -3; round < rounds; round++) {
    const sides = [["ours", ours], ["floor", floor]] as const
    for (const [side, send] of round % 2 === 0 ? sides : sides.toReversed()) {
      const micros = await cpu(kind, send)
      if (round >= 0) figures[side].push(micros)
    }
  }
  return {
    ratio: median(figures.ours.map((each, round) => each / (figures.floor[round] ?? Number.NaN))),
    floor: median(figures.floor)
  }
}

const waiting = 500

const heap = async (): Promise<number> => {
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.()
    await new Promise((resume) => setTimeout(resume, 100))
  }
  return process.memoryUsage().heapUsed
}

/** The heap that a call takes while it waits for its response, in bytes. */
const heapPerCall = async (send: Send): Promise<number> => {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  await text(send(path))
  const before = await heap()
  const calls = Array.from({ length: waiting }, () => send("/silent", { signal: controller.signal }))
  const after = await heap()
  controller.abort()
  await Promise.allSettled(calls)
  return (after - before) / waiting
}

const folder = fileURLToPath(new URL("../../packages/promise/", import.meta.url))

/** The CPU time of a new process, in milliseconds. */
const ofProcess = (script: string): number => {
  const used = "const { user, system } = process.cpuUsage(); console.log((user + system) / 1_000)"
  return Number(execFileSync(process.execPath, ["-e", `${script}\n${used}`]).toString())
}

const importing = (): ReadonlyArray<Measurement> => {
  const scripts = { bare: "0", ours: `require(${JSON.stringify(folder)} + "lib/index.cjs")` }
  const times = Array.from({ length: rounds }, () => ({ bare: ofProcess(scripts.bare), ours: ofProcess(scripts.ours) }))
  const bare = median(times.map(({ bare }) => bare))
  const ours = median(times.map(({ ours }) => ours))
  return [
    { what: "CPU of `require(\"@credit-data/promise\")`, more than `node -e 0`", value: ours - bare, unit: "ms" },
    {
      what: "CPU of a process that requires it",
      value: ours / bare,
      unit: `× node -e 0 (${bare.toFixed(0)} ms)`,
      atMost: 2
    }
  ]
}

/** The published package for programs without Effect, over its own transport and over the global `fetch`, against that `fetch`. */
export const promise: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const base = yield* startProcess("promiseServer.js")
  yield* Effect.sync(() =>
    execFileSync("npx", ["-y", "pnpm@10.34.9", "run", "bundle"], { cwd: folder, stdio: "ignore" })
  )
  const { connect }: typeof Promises = createRequire(import.meta.url)(`${folder}lib/index.cjs`)
  const variables = {
    CREDIT_DATA_ENVIRONMENT: "benchmark",
    CREDIT_DATA_AUDIENCE: "a",
    CREDIT_DATA_BASE_URL: base,
    CREDIT_DATA_AUTH_V2_URL: base,
    CREDIT_DATA_SCOPES: "data-access:all",
    CREDIT_DATA_CLIENT_ID: "id",
    CREDIT_DATA_CLIENT_SECRET: "secret-secret"
  }
  // two connections of a process would log a warning between the rows
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const open = (options: Promises.Options) =>
    Effect.acquireRelease(
      Effect.promise(() => connect({ variables, log, ...options })),
      (made) => Effect.promise(() => made.close())
    )
  const own = yield* open({})
  const given = yield* open({ fetch: globalThis.fetch })
  const bare: Send = (path, init) =>
    globalThis.fetch(base + path, { ...init, headers: { authorization: "Bearer benchmark-token" } })
  const compared = (kind: Kind, name: string, send: Send, atMost: number) =>
    Effect.map(Effect.promise(() => inPairs(kind, send, bare)), ({ floor, ratio }): Measurement => ({
      what: `${kind.what}: ${name}`,
      value: ratio,
      unit: `× the global fetch (${floor.toFixed(0)} µs)`,
      atMost
    }))
  const rows = yield* Effect.forEach(kinds, (kind) => compared(kind, "`connect()`", own.dataAccess, kind.atMost))
  const ofGiven = yield* Effect.forEach(
    kinds.slice(0, 2),
    (kind) => compared(kind, "`connect({ fetch })`", given.dataAccess, 1.15)
  )
  const perCall = yield* Effect.promise(() => heapPerCall(own.dataAccess))
  const perBareCall = yield* Effect.promise(() => heapPerCall(bare))
  return [
    ...rows,
    ...ofGiven,
    {
      what: "heap of a call that waits: `connect()`",
      value: perCall / perBareCall,
      unit: `× the global fetch (${(perBareCall / 1024).toFixed(1)} KiB)`,
      atMost: 0.7
    },
    ...importing()
  ]
}).pipe(Effect.scoped)
