import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenError } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { NodeHttpClient } from "@effect/platform-node"
import { ConfigProvider, Console, Duration, Effect, Layer, Schema, Stream } from "effect"
import { existsSync, readdirSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { firstMessage } from "./childServer.ts"
import { grid } from "./report.ts"

const results = fileURLToPath(new URL("../results/", import.meta.url))

const callsPerSecond = 1_000

/** How often calls are started: some at once, because a timer is not more exact. */
const tick = 10

/** A heap that has grown by more than this between the second and the last minute is not flat. */
const mostGrowth = 1.25

const minutes = Number(process.env["SUSTAINED_MINUTES"] ?? 15)

interface Minute {
  readonly latencies: Array<number>
  failed: number
  rejected: number
}

const share = (sorted: ReadonlyArray<number>, of: number) => sorted[Math.floor((sorted.length - 1) * of)] ?? Number.NaN

const mebibytes = (bytes: number) => bytes / 1_048_576

/** Sockets and files that the process has open, on Linux. */
const openFiles = () => existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : Number.NaN

/** Calls the API at this rate for a minute, whatever the earlier calls do. Waits for the last of them. */
const runMinute = (call: Effect.Effect<boolean, unknown>) =>
  Effect.gen(function*() {
    const minute: Minute = { latencies: [], failed: 0, rejected: 0 }
    const one = Effect.suspend(() => {
      const start = performance.now()
      return Effect.match(call, {
        onFailure: () => {
          minute.failed += 1
        },
        onSuccess: (isRejected) => {
          minute.latencies.push(performance.now() - start)
          if (isRejected) minute.rejected += 1
        }
      })
    })
    const cpu = process.cpuUsage()
    const start = performance.now()
    let started = 0
    yield* Effect.scoped(Effect.gen(function*() {
      while (performance.now() - start < 60_000) {
        const due = Math.floor(((performance.now() - start) / 1_000) * callsPerSecond)
        for (; started < due; started++) yield* Effect.forkScoped(one)
        yield* Effect.sleep(tick)
      }
      // the forks of this scope are interrupted when it closes
      yield* Effect.repeat(Effect.sleep(tick), {
        until: () => minute.latencies.length + minute.failed === started
      })
    }))
    const { system, user } = process.cpuUsage(cpu)
    globalThis.gc?.()
    const sorted = minute.latencies.toSorted((a, b) => a - b)
    return {
      calls: started,
      failed: minute.failed,
      rejected: minute.rejected,
      p50: share(sorted, 0.5),
      p99: share(sorted, 0.99),
      p999: share(sorted, 0.999),
      cpu: (user + system) / 600_000,
      heap: mebibytes(process.memoryUsage().heapUsed),
      openFiles: openFiles()
    }
  })

type Row = Effect.Effect.Success<ReturnType<typeof runMinute>>

const page = (machine: string, rows: ReadonlyArray<Row>, tokenRequests: number): string =>
  [
    "# A quarter of an hour under load",
    "",
    `\`npx -y pnpm@10.34.9 bench sustained\` writes this page: ${callsPerSecond} calls per second over undici to a simulator in another process, with`,
    "tokens that live for 10 seconds. Every 4 seconds it resets 5 connections, delays 20 calls by 200 ms, delays a token request by a second, or",
    "fails one with 503. Every minute it revokes the tokens. The upper percentiles contain the injected delays, and the time for which calls wait for",
    "a token. A call without a token waits for `nextTryAt` and is tried once more.",
    "",
    "The column 401 counts the calls that returned 401 to the caller. CPU is the share of one core that the client and the load generator use.",
    "",
    machine,
    "",
    grid([
      ["minute", "calls", "failed", "401", "p50, ms", "p99, ms", "p99.9, ms", "CPU, %", "heap, MiB", "open files"],
      ...rows.map((row, index) => [
        String(index + 1),
        String(row.calls),
        String(row.failed),
        String(row.rejected),
        row.p50.toFixed(1),
        row.p99.toFixed(1),
        row.p999.toFixed(0),
        row.cpu.toFixed(0),
        row.heap.toFixed(1),
        String(row.openFiles)
      ])
    ]),
    "",
    `${tokenRequests} token requests in ${rows.length} minutes.`,
    ""
  ].join("\n")

/** Measures a client under load with faults, minute by minute, writes the page, and returns whether its lines are flat. */
export const sustained = (machine: string): Effect.Effect<boolean, unknown> =>
  Effect.gen(function*() {
    const variables = yield* Effect.flatMap(
      firstMessage("faultyServer.js", []),
      Schema.decodeUnknown(Schema.Record({ key: Schema.String, value: Schema.String }))
    )
    const live = DataAccess.layer().pipe(
      Layer.provideMerge(AuthV2.layerConfig()),
      Layer.provide(NodeHttpClient.layerUndici),
      Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))))
    )
    return yield* Effect.gen(function*() {
      const client = yield* DataAccess.DataAccess
      const tokens = yield* AccessTokens.AccessTokens
      let tokenRequests = 0
      yield* Effect.forkScoped(
        Stream.runForEach(tokens.events, ({ _tag }) =>
          Effect.sync(() => {
            if (_tag === "Requested") tokenRequests += 1
          }))
      )
      const call = client.get("/data-access/consumers/42").pipe(
        Effect.flatMap((response) => Effect.map(response.json, () => response.status)),
        Effect.filterOrFail((status) => status === 200 || status === 401),
        Effect.map((status) => status === 401),
        TokenError.retryWhenDue({ times: 1 })
      )
      const rows: Array<Row> = []
      for (let minute = 0; minute < minutes; minute++) {
        const row = yield* runMinute(call)
        rows.push(row)
        yield* Console.log(JSON.stringify(row))
      }
      const text = page(machine, rows, tokenRequests)
      yield* Effect.promise(() => writeFile(`${results}sustained.md`, text))
      yield* Console.log(text)
      const [, second] = rows
      const last = rows.at(-1)
      return second === undefined || last === undefined || last.heap <= second.heap * mostGrowth
    }).pipe(Effect.scoped, Effect.provide(live))
  }).pipe(Effect.scoped, Effect.timeout(Duration.minutes(minutes * 2)))
