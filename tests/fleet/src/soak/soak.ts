import { Fault, Simulator } from "@credit-data/simulator"
import { Console, DateTime, Duration, Effect, Layer, Option, type Random, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startWorker } from "../fleet.ts"
import { watchLoop } from "../loop.ts"
import type { Call, Delay } from "../protocol.ts"
import * as Faults from "./faults.ts"
import { type Happened, machine, type Recording, type Resources, type StoreOf } from "./judge.ts"

const size = 20
const lifetime = Duration.seconds(5)

export type Store = "redis" | "files"

/** Between two faults. */
const pause = { from: 1_000, to: 5_000 }
/** How long a fault lasts. */
const length = { from: 300, to: 5_000 }
/** Then no fault happens for some time. */
const inSuccession = 5

/** A process does not use a faulty store for 10 s, and has its own token until the end of its life. */
const recovery = Duration.sum("10 seconds", lifetime)
/** Every token that is used at the start is replaced within this time, and the next one too. */
const quietTime = Duration.times(lifetime, 2)
/**
 * Without faults, the endpoint takes so long that all processes want the next token before it arrives. A fleet that ignores its leases
 * requests a token for each of them then.
 */
const quietLatency = Fault.Delay({ duration: "1 second" })

type Worker = Effect.Effect.Success<ReturnType<typeof startWorker>>

const ended = ({ child }: Worker) =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGCONT")
    child.kill("SIGKILL")
  })

/**
 * Lets faults happen to a fleet of 20 processes for some time, each as often as the others, a few in succession. Prints each, and returns
 * what was recorded. With `only`, faults happen whose names contain it.
 */
export const soak = Effect.fnUntraced(
  function*(
    kind: Store,
    { duration, only, random }: {
      readonly duration: Duration.Duration
      readonly only: string
      /** Decides which faults happen when. Nothing else uses it, so the same seed gives the same faults. */
      readonly random: Random.Random
    }
  ): Effect.fn.Return<Recording, never, Scope.Scope> {
    const context = yield* Layer.build(Simulator.layer({ tokenLifetime: lifetime })).pipe(Effect.orDie)
    const simulator = yield* Effect.provide(Simulator.Simulator, context)
    const variables = yield* Effect.provide(Simulator.variables, context)
    const url = `${simulator.environment.baseUrl}/data-access/consumers/42`

    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "soak-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
    )
    const place = join(folder, kind)
    const options = kind === "redis" ? { redisFile: place } : { directory: place }
    const storeFaults = kind === "redis" ? yield* Faults.startRedisStore(place) : Faults.ofFiles(place)

    const calls: Array<Call> = []
    const delays: Array<Delay> = []
    yield* Effect.acquireRelease(
      Effect.sync(() => watchLoop((delay) => delays.push({ process: machine, ...delay }))),
      (end) => Effect.sync(end)
    )
    const workers = new Map<string, Worker>()
    const resources = new Map<string, Resources>()
    const startProcess = Effect.fnUntraced(function*(name: string) {
      const worker = yield* startWorker((call) => calls.push(call), (delay) => delays.push(delay))
      workers.set(name, worker)
      // tokens are revoked more often than in 30 s, the default
      const { error } = yield* worker.ask({ do: "start", variables, ...options, forcedRenewalMillis: 500 })
      if (error !== undefined) return yield* Effect.dieMessage(`Process ${name} did not start: ${error}`)
      yield* worker.ask({ do: "load", url, process: name })
    })
    yield* Effect.addFinalizer(() =>
      Effect.forEach(workers.values(), ended, { discard: true, concurrency: "unbounded" })
    )

    const names = Array.from({ length: size }, (_, index) => `${index + 1}`)
    yield* Effect.forEach(names, startProcess, { discard: true, concurrency: 4 })
    const fleet: Faults.Fleet = {
      signal: (name, signal) => workers.get(name)?.signal(signal) ?? Effect.void,
      replace: (name) =>
        Effect.gen(function*() {
          const worker = workers.get(name)
          if (worker !== undefined) yield* ended(worker)
          resources.delete(name)
          yield* startProcess(name)
        })
    }
    const possible = [...Faults.ofProcesses(fleet), ...Faults.ofEndpoint(simulator), ...storeFaults]
      .filter(({ name }) => name.includes(only))

    // the simulator keeps the newest requests and tokens only
    const received = new Map<number, Recording["received"][number]>()
    const requests = new Map<number, number>()
    const tokens = new Map<number, Recording["tokens"][number]>()
    const record = Effect.gen(function*() {
      for (const { headers, id, receivedAt, server, token } of yield* simulator.received) {
        const at = DateTime.toEpochMillis(receivedAt)
        if (server === "AuthV2") requests.set(id, at)
        else {
          const [process = "", gotAt = at] = [headers["x-process"], headers["x-got-at"]]
          received.set(id, { process, gotAt: Number(gotAt), token: Option.getOrUndefined(token) })
        }
      }
      for (const { expiresAt, id, issuedAt } of yield* simulator.tokens) {
        tokens.set(id, { id, issuedAt: DateTime.toEpochMillis(issuedAt), expiresAt: DateTime.toEpochMillis(expiresAt) })
      }
    })
    yield* Effect.forkScoped(Effect.forever(Effect.delay(record, "500 millis")))

    const measured = Effect.forEach(
      workers,
      ([name, { ask }]) =>
        Effect.map(ask({ do: "measure" }), ({ heap = 0, sockets = 0 }) => [name, { heap, sockets }] as const)
    )
    // by then, every process has compiled what it runs
    yield* Effect.sleep("5 seconds")
    for (const [name, each] of yield* measured) resources.set(name, each)

    const logged = (logs: ReadonlyArray<string>, line: RegExp) => logs.filter((each) => line.test(each)).length
    const storesOf = Effect.forEach(
      workers,
      ([process, { ask }]) =>
        Effect.map(ask({ do: "status" }), ({ logs = [], store }): StoreOf => ({
          process,
          faults: store?.faults ?? 0,
          isFaulty: store !== undefined && Option.isSome(store.lastFault),
          failures: logged(logs, /^WARN The shared store of access tokens cannot be used/),
          recoveries: logged(logs, /^INFO The shared store .* works again/)
        }))
    )

    const faultsOf = (stores: ReadonlyArray<StoreOf>) => stores.reduce((sum, { faults }) => sum + faults, 0)

    const from = Date.now()
    const happened: Array<Happened> = []
    const happen = Effect.fnUntraced(function*({ name, run, what }: Faults.Possible) {
      yield* Effect.sleep(Duration.millis(yield* random.nextIntBetween(pause.from, pause.to)))
      const millis = yield* random.nextIntBetween(length.from, length.to)
      const drawn = Array.from(yield* random.shuffle(names)).slice(0, names.length / 2)
      const startedAt = Date.now()
      yield* run(millis, drawn)
      happened.push({ name, what, from: startedAt, until: Date.now() })
      yield* Console.log(
        `${((startedAt - from) / 1_000).toFixed(1).padStart(7)} s  ${name}, for ${Date.now() - startedAt} ms`
      )
    })
    const quiet: Array<Recording["quiet"][number]> = []
    let left: ReadonlyArray<Faults.Possible> = []
    while (Date.now() - from < Duration.toMillis(duration)) {
      while (possible.length > 0 && left.length < inSuccession) left = [...left, ...(yield* random.shuffle(possible))]
      const next = left.slice(0, inSuccession)
      yield* Effect.forEach(next.filter(({ isLast }) => isLast !== true), happen, { discard: true })
      yield* Effect.forEach(next.filter(({ isLast }) => isLast === true), happen, { discard: true })
      left = left.slice(inSuccession)
      yield* Effect.sleep(recovery)
      const faultsBefore = faultsOf(yield* storesOf)
      const quietFrom = Date.now()
      yield* simulator.failTokenRequests(quietLatency, { times: 10_000 })
      yield* Effect.sleep(quietTime)
      const stores = yield* storesOf
      quiet.push({ from: quietFrom, until: Date.now(), storeFaults: faultsOf(stores) - faultsBefore, stores })
      yield* simulator.clearFaults
    }
    yield* record
    const until = Date.now()
    const after = new Map(yield* measured)
    return {
      processes: size,
      lifetime: Duration.toMillis(lifetime),
      from,
      until,
      tokens: Array.from(tokens.values()),
      requests: Array.from(requests.values()).filter((at) => at >= from),
      received: Array.from(received.values()),
      calls: calls.filter((call) => call.from >= from),
      faults: happened,
      delays: delays.filter((delay) => delay.until >= from),
      quiet,
      resources: Array.from(resources).flatMap(([name, start]) => {
        const end = after.get(name)
        return end === undefined ? [] : [{ start, end }]
      })
    }
  }
)
