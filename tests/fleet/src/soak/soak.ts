import { Simulator } from "@credit-data/simulator"
import { startRedis } from "@credit-data/test-support/redisServer"
import { Console, DateTime, Duration, Effect, Layer, Option, Random, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startWorker } from "../fleet.ts"
import type { Call } from "../protocol.ts"
import * as Faults from "./faults.ts"
import type { Happened, Recording, Resources } from "./judge.ts"

const size = 20
const lifetime = Duration.seconds(5)

export type Store = "redis" | "files"

/** Between two faults. */
const pause = { from: 1_000, to: 5_000 }
/** How long a fault lasts. */
const length = { from: 300, to: 5_000 }

type Worker = Effect.Effect.Success<ReturnType<typeof startWorker>>

const ended = ({ child }: Worker) =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGCONT")
    child.kill("SIGKILL")
  })

/** Lets faults happen to a fleet of 20 processes for some time. Prints each, and returns what was recorded. */
export const soak = Effect.fnUntraced(
  function*(kind: Store, duration: Duration.Duration): Effect.fn.Return<Recording, never, Scope.Scope> {
    const context = yield* Layer.build(Simulator.layer({ tokenLifetime: lifetime })).pipe(Effect.orDie)
    const simulator = yield* Effect.provide(Simulator.Simulator, context)
    const variables = yield* Effect.provide(Simulator.variables, context)
    const url = `${simulator.environment.baseUrl}/data-access/consumers/42`

    const store = kind === "redis"
      ? Effect.map(startRedis(), (redis) => ({ options: { redis: redis.url }, faults: Faults.ofRedis(redis) }))
      : Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "soak-"))),
          (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
        ),
        (folder) => ({ options: { directory: join(folder, "tokens") }, faults: Faults.ofFiles(join(folder, "tokens")) })
      )
    const { faults: storeFaults, options } = yield* store

    const calls: Array<Call> = []
    const workers = new Map<string, Worker>()
    const resources = new Map<string, Resources>()
    const startProcess = Effect.fnUntraced(function*(name: string) {
      const worker = yield* startWorker((call) => calls.push(call))
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
      names,
      signal: (name, signal) => workers.get(name)?.signal(signal) ?? Effect.void,
      replace: (name) =>
        Effect.gen(function*() {
          const worker = workers.get(name)
          if (worker !== undefined) yield* ended(worker)
          resources.delete(name)
          yield* startProcess(name)
        })
    }
    const possible = [...Faults.ofProcesses(fleet), ...Faults.ofEndpoint(simulator), ...storeFaults, ...storeFaults]

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

    const from = Date.now()
    const happened: Array<Happened> = []
    while (Date.now() - from < Duration.toMillis(duration)) {
      yield* Effect.sleep(Duration.millis(yield* Random.nextIntBetween(pause.from, pause.to)))
      const fault = possible[yield* Random.nextIntBetween(0, possible.length)]
      if (fault === undefined) continue
      const millis = yield* Random.nextIntBetween(length.from, length.to)
      const drawn = Array.from(yield* Random.shuffle(names)).slice(0, names.length / 2)
      const who = fault.who?.(drawn)
      const startedAt = Date.now()
      yield* fault.run(millis, who ?? [])
      happened.push({ name: fault.name, what: fault.what, who, from: startedAt, until: Date.now() })
      yield* Console.log(
        `${((startedAt - from) / 1_000).toFixed(1).padStart(7)} s  ${fault.name}, for ${Date.now() - startedAt} ms`
      )
    }
    // everything affected recovers
    yield* Effect.sleep("10 seconds")
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
      resources: Array.from(resources).flatMap(([name, start]) => {
        const end = after.get(name)
        return end === undefined ? [] : [{ start, end }]
      })
    }
  }
)
