import { Fault, Simulator } from "@credit-data/simulator"
import { interruptedExitCode } from "@credit-data/test-support/childProcess"
import { startService } from "@credit-data/test-support/service"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Agent, get } from "node:http"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"

const fileOf = (folder: string) => fileURLToPath(new URL(`../src/${folder}/main.ts`, import.meta.url))

const services = [
  { name: "the service example", file: fileOf("service"), expected: interruptedExitCode },
  { name: "the service example with Promises", file: fileOf("promise-service"), expected: 0 }
]

const path = "/consumers/42"

/** Waits until nothing listens on the port any more. */
const closed = (port: number): Effect.Effect<void> =>
  Effect.flatMap(
    Effect.promise(() =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, "127.0.0.1", () => {
          socket.destroy()
          resolve(false)
        }).once("error", () => resolve(true))
      })
    ),
    (isClosed) => isClosed ? Effect.void : closed(port)
  )

const delay = Fault.Delay({ duration: "1 hour" })

/** A client with one connection, which it keeps. */
const keepAlive = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
    (agent) => Effect.sync(() => agent.destroy())
  ),
  (agent) => (url: string) =>
    Effect.promise(() =>
      new Promise<string>((resolve) => {
        get(url, { agent }, (response) => {
          response.resume().once("end", () => resolve(`${response.statusCode} ${response.headers.connection}`))
        }).once("error", ({ message }) => resolve(message))
      })
    )
)

describe.each(services)("$name", ({ expected, file }) => {
  for (const [what, server] of [["a token request", "AuthV2"], ["a call of the API", "Api"]] as const) {
    it.live(`responds after SIGTERM to a request that waits for ${what}`, () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        yield* server === "Api" ? simulator.failCalls(delay) : simulator.failTokenRequests(delay)
        const service = yield* startService(file, yield* Simulator.variables)
        const request = yield* Effect.fork(service.get(path))
        yield* simulator.awaitReceived(server, 1)
        const stopping = yield* Effect.fork(service.kill("SIGTERM"))
        yield* closed(service.port)
        yield* simulator.advanceClock("1 hour")
        const { status, text } = yield* Fiber.join(request)
        const { exitCode, stderr, stdout } = yield* Fiber.join(stopping)
        assert.strictEqual(status, 200, `${text}\n${stdout}${stderr}`)
        assert.include(text, "/data-access/consumers/42")
        assert.strictEqual(exitCode, expected)
      }).pipe(Effect.scoped, Effect.provide([Simulator.layer(), NodeHttpClient.layer])), 60_000)
  }

  for (const [first, second] of [["SIGTERM", "SIGTERM"], ["SIGINT", "SIGHUP"], ["SIGHUP", "SIGINT"]] as const) {
    it.live(`responds to its open request after ${first} and ${second}`, () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        yield* simulator.failCalls(delay)
        const service = yield* startService(file, yield* Simulator.variables)
        const request = yield* Effect.fork(service.get(path))
        yield* simulator.awaitReceived("Api", 1)
        const stopping = yield* Effect.fork(service.kill(first))
        yield* closed(service.port)
        yield* Effect.fork(service.kill(second))
        yield* Effect.sleep("200 millis") // until the process has received the signal
        yield* simulator.advanceClock("1 hour")
        assert.strictEqual((yield* Fiber.join(request)).status, 200)
        assert.strictEqual((yield* Fiber.join(stopping)).exitCode, expected)
      }).pipe(Effect.scoped, Effect.provide([Simulator.layer(), NodeHttpClient.layer])), 60_000)
  }

  it.live("responds after SIGTERM on connections that it has kept, and closes them", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const service = yield* startService(file, yield* Simulator.variables)
      const url = `${service.url}${path}`
      const [idle, busy] = [yield* keepAlive, yield* keepAlive]
      assert.strictEqual(yield* idle(url), "200 keep-alive")
      yield* simulator.failCalls(delay, { times: 1 })
      const request = yield* Effect.fork(busy(url))
      yield* simulator.awaitReceived("Api", 2)
      const stopping = yield* Effect.fork(service.kill("SIGTERM"))
      yield* closed(service.port)
      assert.strictEqual(yield* idle(url), "200 close")
      yield* simulator.advanceClock("1 hour")
      assert.strictEqual(yield* Fiber.join(request), "200 close")
      assert.include(yield* busy(url), "ECONNREFUSED")
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped, Effect.provide([Simulator.layer(), NodeHttpClient.layer])), 60_000)
})
