import { Fault, Simulator } from "@credit-data/simulator"
import { startRedis } from "@credit-data/test-support/redisServer"
import { relay } from "@credit-data/test-support/relay"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { askAll, startWorkers, type Worker } from "../src/fleet.ts"
import type { CommandResult } from "../src/protocol.ts"

let workers: ReadonlyArray<Worker> = []
let close = Effect.void

beforeAll(async () => {
  const scope = await Effect.runPromise(Scope.make())
  close = Scope.close(scope, Exit.void)
  workers = await Effect.runPromise(startWorkers(50).pipe(Scope.extend(scope)))
}, 300_000)
afterAll(() => Effect.runPromise(close))

/** Starts the simulator. Its token endpoint has this fault. */
const serve = Effect.fnUntraced(function*(
  { fault = Fault.Delay({ duration: "200 millis" }), ...settings }: Simulator.Settings & {
    readonly fault?: Fault.Fault
  } = {}
) {
  const context = yield* Layer.build(Simulator.layer(settings))
  const simulator = yield* Effect.provide(Simulator.Simulator, context)
  yield* simulator.failTokenRequests(fault, { times: 1_000 })
  return { simulator, variables: yield* Effect.provide(Simulator.variables, context) }
})

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fleet-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const test = <A, E>(name: string, body: () => Effect.Effect<A, E, Scope.Scope>) => it.scopedLive(name, body, 90_000)
const get = { do: "get" } as const
const tokensOf = (results: ReadonlyArray<CommandResult>) => new Set(results.map(({ token }) => token))
const errorsOf = (results: ReadonlyArray<CommandResult>) =>
  results.flatMap(({ error, errors = [] }) => error === undefined ? errors : [error, ...errors])

const startAll = (
  some: ReadonlyArray<Worker>,
  { aheadMillis = () => 0, ...others }: {
    readonly variables: Record<string, string>
    readonly redis?: string
    readonly directory?: string
    readonly aheadMillis?: (index: number) => number
  }
) =>
  Effect.map(
    askAll(some, (index) => ({ do: "start", ...others, aheadMillis: aheadMillis(index) })),
    (results) => assert.deepStrictEqual(errorsOf(results), [])
  )

/** Some of the processes, with a new supply. They end it with the test. */
const started = (some: ReadonlyArray<Worker>, command: Parameters<typeof startAll>[1]) =>
  Effect.acquireRelease(
    startAll(some, command),
    () => Effect.timeoutOption(askAll(some, { do: "close" }), "3 seconds")
  )

describe("50 processes", () => {
  test("without a store send 50 token requests", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* serve()
      yield* started(workers, { variables })
      assert.strictEqual(tokensOf(yield* askAll(workers, get)).size, 50)
      assert.strictEqual(yield* simulator.tokenRequests, 50)
    }))

  test("with a store in files send one, and a process that gets no CPU for a step of the store one of its own", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* serve()
      yield* started(workers, { variables, directory: yield* folder })
      const tokens = tokensOf(yield* askAll(workers, get)).size
      const alone = (yield* askAll(workers, { do: "status" })).filter(({ store }) => store?.faults !== 0).length
      assert.isAtMost(tokens, 1 + alone, "a token was requested twice although the store worked")
      assert.strictEqual(yield* simulator.tokenRequests, tokens)
      assert.isAtMost(alone, 25, "processes could not use the store")
    }))
})

describe("50 processes with a store on Redis", () => {
  test("send one token request, and one more when all of them report a 401", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* serve()
      const { url } = yield* startRedis()
      yield* started(workers, { variables, redis: url })
      const first = tokensOf(yield* askAll(workers, get))
      assert.strictEqual(first.size, 1)
      assert.strictEqual(yield* simulator.tokenRequests, 1)
      yield* simulator.revokeTokens
      const second = tokensOf(yield* askAll(workers, { do: "replace" }))
      assert.strictEqual(second.size, 1)
      assert.notDeepEqual(first, second)
      assert.strictEqual(yield* simulator.tokenRequests, 2)
    }))

  test("send a tenth of the requests that they would send without a store to an endpoint that fails", () =>
    Effect.gen(function*() {
      const some = workers.slice(0, 30)
      const { url } = yield* startRedis()
      const requests: Array<number> = []
      for (const store of [{}, { redis: url }]) {
        const { simulator, variables } = yield* serve({ fault: Fault.Response({ status: 503 }) })
        yield* started(some, { variables, ...store })
        const results = yield* askAll(some, get)
        assert.deepStrictEqual(new Set(errorsOf(results)), new Set(["ServerError"]))
        requests.push(yield* simulator.tokenRequests)
      }
      const [alone = 0, shared = 0] = requests
      assert.strictEqual(alone, 90)
      assert.isAtMost(shared, alone / 10)
    }))

  test("send two when the process that has the lease is killed, and wait for little more than its lease", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* serve({ fault: Fault.Delay({ duration: "3 seconds" }) })
      const { url } = yield* startRedis()
      const [holder] = yield* startWorkers(1)
      assert.isDefined(holder)
      const some = workers.slice(0, 20)
      yield* started(some, { variables, redis: url })
      yield* startAll([holder], { variables, redis: url })
      yield* Effect.fork(holder.ask(get))
      yield* simulator.awaitReceived("AuthV2", 1)
      const waiting = yield* Effect.fork(askAll(some, get))
      yield* Effect.sleep("700 millis")
      yield* holder.signal("SIGKILL")
      const results = yield* Fiber.join(waiting)
      assert.deepStrictEqual(errorsOf(results), [])
      assert.strictEqual(tokensOf(results).size, 1)
      assert.isAtMost(yield* simulator.tokenRequests, 2)
    }))

  test("keep the newer token when a process that was stopped with the lease wakes up", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* serve({ fault: Fault.Delay({ duration: "1 second" }) })
      const { url } = yield* startRedis()
      const [holder] = yield* startWorkers(1)
      assert.isDefined(holder)
      const [late, ...some] = workers.slice(0, 20)
      assert.isDefined(late)
      yield* started([late, ...some], { variables, redis: url })
      yield* startAll([holder], { variables, redis: url })
      const stopped = yield* Effect.fork(holder.ask(get))
      yield* simulator.awaitReceived("AuthV2", 1)
      yield* holder.signal("SIGSTOP")
      const results = yield* askAll(some, get)
      assert.strictEqual(tokensOf(results).size, 1)
      yield* holder.signal("SIGCONT")
      assert.deepStrictEqual(errorsOf([yield* Fiber.join(stopped)]), [])
      assert.deepStrictEqual(tokensOf([yield* late.ask(get)]), tokensOf(results))
      assert.strictEqual(yield* simulator.tokenRequests, 2)
    }))

  test("show no token, no secret and no client id to anyone who reads the store", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* serve()
      const redis = yield* startRedis({ settings: ["appendonly yes", "appendfsync always"] })
      const watched: Array<string> = []
      const socket = yield* Effect.acquireRelease(
        Effect.sync(() => connect(redis.port, "127.0.0.1")),
        (socket) => Effect.sync(() => socket.destroy())
      )
      socket.on("data", (data) => watched.push(data.toString("latin1")))
      socket.write("MONITOR\r\n")
      const some = workers.slice(0, 3)
      yield* started(some, { variables, redis: redis.url })
      assert.deepStrictEqual(errorsOf(yield* askAll(some, get)), [])
      yield* askAll(some, { do: "replace" })
      yield* simulator.failTokenRequests(Fault.Response({ status: 401 }))
      yield* askAll(some, { do: "replace" })
      yield* redis.command("SAVE")
      const status = JSON.stringify(yield* askAll(some, { do: "status" }))
      const texts: Record<string, string> = { watched: watched.join(""), status, ...yield* redis.written }
      const secret = variables["CREDIT_DATA_CLIENT_SECRET"] ?? ""
      const canaries = ["simulated.V2", secret, secret.slice(0, 20)]
      const clientId = variables["CREDIT_DATA_CLIENT_ID"] ?? ""
      for (const [where, text] of Object.entries(texts)) {
        // the status is for the program itself
        for (const canary of where === "status" ? canaries : [...canaries, clientId]) {
          assert.isFalse(text.includes(canary), `${canary} in ${where}`)
        }
      }
      for (const where of ["watched", "dump.rdb"]) {
        assert.include(texts[where], "credit-data:{", "the store was used")
      }
    }))

  const faults: Record<
    string,
    (redis: Effect.Effect.Success<ReturnType<typeof startRedis>>) => Effect.Effect<unknown>
  > = {
    "stands still": ({ pause }) => pause,
    "is killed": ({ kill }) => kill,
    "is full": ({ command }) => command("CONFIG SET maxmemory 1"),
    "is read-only": ({ command }) => command("REPLICAOF 127.0.0.1 1")
  }
  for (const [fault, happen] of Object.entries(faults)) {
    test(`request their own tokens when it ${fault}, and share again when it is back`, () =>
      Effect.gen(function*() {
        const some = workers.slice(0, 20)
        const { simulator, variables } = yield* serve()
        const redis = yield* startRedis()
        yield* started(some, { variables, redis: redis.url })
        yield* happen(redis)
        const results = yield* askAll(some, get)
        assert.deepStrictEqual(errorsOf(results), [])
        assert.isAtMost(yield* simulator.tokenRequests, some.length)
        const statuses = yield* askAll(some, { do: "status" })
        for (const { logs = [], store } of statuses) {
          assert.isAtLeast(store?.faults ?? 0, 1)
          assert.lengthOf(logs.filter((line) => line.startsWith("WARN The shared store")), 1)
        }
        const closing = yield* askAll(some, { do: "close" })
        assert.deepStrictEqual(errorsOf(closing), [])
        // Redis comes back empty, and the same processes share one token again
        yield* fault === "is killed" ? Effect.void : redis.kill
        yield* redis.restart
        const before = yield* simulator.tokenRequests
        yield* startAll(some, { variables, redis: redis.url })
        assert.strictEqual(tokensOf(yield* askAll(some, get)).size, 1)
        assert.strictEqual(yield* simulator.tokenRequests, before + 1)
      }))
  }

  test("share even when Redis is slow, and request their own tokens when it is too slow", () =>
    Effect.gen(function*() {
      const { url: _, port } = yield* startRedis()
      const some = workers.slice(0, 10)
      for (const [delay, most] of [[100, 1], [300, 1], [2_000, some.length]] as const) {
        const { simulator, variables } = yield* serve()
        const slow = yield* relay(port, delay)
        yield* started(some, { variables, redis: `redis://127.0.0.1:${slow.port}` })
        const results = yield* askAll(some, get)
        assert.deepStrictEqual(errorsOf(results), [])
        assert.isAtMost(yield* simulator.tokenRequests, most)
      }
    }))
})

// these tests mostly wait, so they run beside each other, each with its own processes
describe("processes with a store on Redis", { concurrent: true }, () => {
  test("share less when the clocks of some are 10 minutes ahead, and no token is sent after its expiry", () =>
    Effect.gen(function*() {
      const some = workers.slice(0, 30)
      // the margin before the end of a token is the longest one, a second, because calls of a busy machine take long
      const { simulator, variables } = yield* serve({ tokenLifetime: "10 seconds" })
      const { url } = yield* startRedis()
      yield* started(some, { variables, redis: url, aheadMillis: (index) => index % 3 === 0 ? 600_000 : 0 })
      const results = yield* askAll(some, {
        do: "run",
        millis: 22_000,
        url: `${simulator.environment.baseUrl}/data-access/consumers/42`
      })
      assert.deepStrictEqual(errorsOf(results), [])
      // lives of 9 s, renewed after 6.75 s or later: once by the processes that are ahead, and once by the others
      assert.isAtMost(yield* simulator.tokenRequests, 10)
    }))

  test("continue through a restart of an empty Redis, with one token for each lifetime afterwards", () =>
    Effect.gen(function*() {
      const some = workers.slice(30)
      const { simulator, variables } = yield* serve({ tokenLifetime: "5 seconds" })
      const redis = yield* startRedis()
      yield* started(some, { variables, redis: redis.url })
      const running = yield* Effect.fork(askAll(some, {
        do: "run",
        millis: 14_000,
        url: `${simulator.environment.baseUrl}/data-access/consumers/42`
      }))
      yield* Effect.sleep("2 seconds")
      yield* redis.kill
      yield* Effect.sleep("1 second")
      yield* redis.restart
      assert.deepStrictEqual(errorsOf(yield* Fiber.join(running)), [])
      const sharing = yield* askAll(some, { do: "status" })
      assert.isTrue(sharing.some(({ store }) => (store?.tokensTaken ?? 0) > 0))
      assert.isAtMost(yield* simulator.tokenRequests, 2 * some.length)
    }))
})
