// Measures fleets of real processes and prints one line of JSON for each figure. `pnpm bench fleet` runs it.

import { Fault, Simulator } from "@credit-data/simulator"
import { startRedis } from "@credit-data/test-support/redisServer"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Duration, Effect, Fiber, Layer, Logger, type Scope } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import { askAll, startWorkers, type Worker } from "./fleet.ts"
import type { CommandResult } from "./protocol.ts"

interface Run {
  readonly what: string
  readonly workers: ReadonlyArray<Worker>
  readonly store?: { readonly redis?: string; readonly directory?: string }
  readonly latency?: Duration.DurationInput
  readonly fault?: Fault.Fault
  /** The highest allowed number of token requests. */
  readonly atMost?: number
  /** The first pause after a failure, without chance. */
  readonly hasConstantPauses?: boolean
  /** What happens after the supplies were built. */
  readonly before?: Effect.Effect<unknown, never, Scope.Scope>
}

const share = (results: ReadonlyArray<CommandResult>, of: number) => {
  const sorted = results.map(({ millis }) => millis ?? Number.POSITIVE_INFINITY).toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(of * sorted.length))] ?? Number.NaN
}

const newFolder = () => mkdtempSync(join(tmpdir(), "fleet-"))

const print = (what: string, value: number, unit: string, atMost?: number) =>
  Console.log(JSON.stringify({ what, value, unit, ...(atMost === undefined ? {} : { atMost }) }))

/** Starts a simulator whose token endpoint has this fault. */
const startSimulator = Effect.fnUntraced(function*(fault: Fault.Fault) {
  const context = yield* Layer.build(Simulator.layer())
  const simulator = yield* Effect.provide(Simulator.Simulator, context)
  yield* simulator.failTokenRequests(fault, { times: 10_000 })
  return { simulator, variables: yield* Effect.provide(Simulator.variables, context) }
})

/** The first `get` of all processes at the same time. Returns its median. */
const first = Effect.fnUntraced(
  function*({ atMost, before, fault, latency, hasConstantPauses, store, what, workers }: Run) {
    const { simulator, variables } = yield* startSimulator(fault ?? Fault.Delay({ duration: latency ?? "200 millis" }))
    yield* askAll(workers, {
      do: "start",
      variables,
      ...(hasConstantPauses !== undefined && { hasConstantPauses }),
      ...store
    })
    // the connections are made in the background, and 200 of them keep two cores busy for a while
    yield* Effect.sleep(Duration.millis(workers.length * 40))
    if (before !== undefined) yield* before
    const results = yield* askAll(workers, { do: "get" })
    const requests = yield* simulator.tokenRequests
    const closing = yield* askAll(workers, { do: "close" })
    const errors = results.filter(({ error }) => error !== undefined).length
    const name = `${workers.length} processes, ${what}`
    yield* print(name, requests, "token requests", atMost)
    yield* print(`${name}: first \`get\`, p50`, share(results, 0.5), "ms")
    yield* print(`${name}: first \`get\`, p99`, share(results, 0.99), "ms")
    // with hundreds of processes, the machine is busy with something else
    const most = workers.length > 50 ? undefined : 2_000
    yield* print(`${name}: the scope closes after, p99`, share(closing, 0.99), "ms", most)
    if (fault === undefined) yield* print(`${name}: failures`, errors, "failures", 0)
    return share(results, 0.5)
  },
  Effect.scoped
)

/** As many processes as cores that do nothing but count. */
const keepBusy = Effect.forEach(
  cpus(),
  () =>
    Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, ["--eval", "for (;;) ;"])),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    ),
  { discard: true }
)

/** The first `get` of one process, alone and with a store, in turns. */
const coldProcess = Effect.fnUntraced(function*(worker: ReadonlyArray<Worker>, store: NonNullable<Run["store"]>) {
  const millis = { alone: Array<CommandResult>(), shared: Array<CommandResult>() }
  for (let turn = 0; turn < 25; turn++) {
    for (const [how, options] of [["alone", {}], ["shared", store]] as const) {
      yield* Effect.gen(function*() {
        const { simulator, variables } = yield* startSimulator(Fault.Delay({ duration: "100 millis" }))
        yield* askAll(worker, { do: "start", variables, ...options })
        // the connection
        yield* Effect.sleep("50 millis")
        millis[how].push(...(yield* askAll(worker, { do: "get" })))
        yield* askAll(worker, { do: "close" })
        if ((yield* simulator.tokenRequests) !== 1) return yield* Effect.dieMessage("Expected one token request.")
      }).pipe(Effect.scoped)
    }
  }
  const factor = share(millis.shared, 0.5) / share(millis.alone, 0.5)
  yield* print("one cold process over Redis: first `get`", factor, "× without a store", 1.15)
})

/** How long processes that remember a failure remain without the token that one of them has obtained. */
const recovery = Effect.fnUntraced(function*(workers: ReadonlyArray<Worker>, store: NonNullable<Run["store"]>) {
  const { simulator, variables } = yield* startSimulator(Fault.Response({ status: 503 }))
  yield* askAll(workers, { do: "start", variables, ...store })
  const until = performance.now() + 25_000
  while (performance.now() < until) yield* askAll(workers, { do: "get" })
  yield* simulator.clearFaults
  const firstTokens = yield* Effect.forEach(workers, ({ ask }) =>
    Effect.gen(function*() {
      while ((yield* ask({ do: "get" })).token === undefined) yield* Effect.sleep("50 millis")
      return performance.now()
    }), { concurrency: "unbounded" })
  yield* askAll(workers, { do: "close" })
  const last = Math.max(...firstTokens) - Math.min(...firstTokens)
  yield* print("10 processes after 25 s of 503: from the first token to the last process's token", last, "ms", 2_000)
  yield* print(
    "10 processes after 25 s of 503: token requests with a token",
    yield* simulator.tokens.pipe(Effect.map(({ length }) => length)),
    "requests",
    1
  )
}, Effect.scoped)

Effect.gen(function*() {
  const workers = yield* startWorkers(200)
  const fifty = workers.slice(0, 50)
  const twenty = workers.slice(0, 20)
  const thirty = workers.slice(0, 30)
  const fresh = Effect.map(startRedis(), (redis) => ({ redis, store: { redis: redis.url } }))

  // the first run of a process compiles its code
  for (const store of [{}, { redis: (yield* startRedis()).url }, { directory: newFolder() }]) {
    yield* first({ what: "to warm up", workers, store })
  }
  yield* first({ what: "without a store", workers })
  yield* first({ what: "Redis", workers, store: (yield* fresh).store, atMost: 1 })
  yield* first({ what: "files", workers, store: { directory: newFolder() }, atMost: 1 })
  yield* first({
    what: "Redis, both cores kept busy",
    workers,
    store: (yield* fresh).store,
    atMost: 5,
    before: keepBusy
  })

  yield* coldProcess(workers.slice(0, 1), (yield* fresh).store)
  yield* recovery(workers.slice(0, 10), (yield* fresh).store)
  yield* first({
    // a process that waits for its response lets another one try after half of the deadline
    what: "Redis, healthy endpoint that takes 6 s",
    workers: twenty,
    store: (yield* fresh).store,
    latency: "6 seconds",
    atMost: 2
  })

  const unavailable = Fault.Response({ status: 503 })
  // the middle of the usual pauses: otherwise, the random pauses of the process with the lease would decide
  const hasConstantPauses = true
  const alone = yield* first({
    what: "without a store, endpoint returns 503",
    workers: thirty,
    fault: unavailable,
    hasConstantPauses
  })
  const shared = yield* first({
    what: "Redis, endpoint returns 503",
    workers: thirty,
    store: (yield* fresh).store,
    fault: unavailable,
    hasConstantPauses,
    atMost: 9
  })
  yield* print("endpoint returns 503: first response with Redis", shared / alone, "× without a store", 1.15)

  const faults = {
    "stands still": (redis: Redis) => redis.pause,
    "was killed": (redis: Redis) => redis.kill,
    "is full": (redis: Redis) => redis.command("CONFIG SET maxmemory 1"),
    "is read-only": (redis: Redis) => redis.command("REPLICAOF 127.0.0.1 1")
  }
  for (const [what, happens] of Object.entries(faults)) {
    const { redis, store } = yield* fresh
    yield* first({ what: `Redis ${what}`, workers: fifty, store, before: happens(redis), atMost: fifty.length })
  }

  for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
    const { store } = yield* fresh
    const [holder] = yield* startWorkers(1)
    if (holder === undefined) continue
    const { simulator, variables } = yield* startSimulator(Fault.Delay({ duration: "1 second" }))
    yield* askAll([holder, ...thirty], { do: "start", variables, ...store })
    yield* Effect.fork(holder.ask({ do: "get" }))
    yield* simulator.awaitReceived("AuthV2", 1)
    const waiting = yield* Effect.fork(askAll(thirty, { do: "get" }))
    yield* holder.signal(signal)
    const results = yield* Fiber.join(waiting)
    const name = `30 processes, ${signal} to the one with the lease`
    yield* print(name, yield* simulator.tokenRequests, "token requests", 2)
    // the rest of a lease, and a request of 1 s
    yield* print(`${name}: first \`get\`, p99`, share(results, 0.99), "ms", 1_000 + 3_000)
  }
}).pipe(
  Effect.scoped,
  Effect.provide(Logger.remove(Logger.defaultLogger)),
  NodeRuntime.runMain({ disablePrettyLogger: true })
)

type Redis = Effect.Effect.Success<ReturnType<typeof startRedis>>
