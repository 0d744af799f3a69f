import { Fault, Simulator } from "@credit-data/simulator"
import { interruptedExitCode } from "@credit-data/test-support/childProcess"
import { startService } from "@credit-data/test-support/service"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"

const pages = new URL("../../docs/", import.meta.url)
const target = new URL("../.examples/", import.meta.url)
mkdirSync(target, { recursive: true })

/** Every program on the pages that serves, with a free port instead of 3000. */
const onPages = readdirSync(pages).filter((page) => page.endsWith(".md")).flatMap((page) =>
  [...readFileSync(new URL(page, pages), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)]
    .flatMap(([, code = ""]) => code.includes("Layer.launch") ? [code] : [])
    .map((code, index) => {
      const file = new URL(`${page}-${index + 1}.ts`, target)
      writeFileSync(file, code.replace("port: 3000", "port: Number(process.env[\"PORT\"])"))
      return { name: `a program of docs/${page}`, file: fileURLToPath(file), path: "/" }
    })
)

const example = {
  name: "the service example",
  file: fileURLToPath(new URL("../src/service/main.ts", import.meta.url)),
  path: "/consumers/42"
}

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

/** A client that keeps its connections. */
const KeepAlive = NodeHttpClient.layerWithoutAgent.pipe(
  Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: true }))
)

describe("SIGTERM during a request", () => {
  for (const { file, name, path } of [example, ...onPages]) {
    for (const [what, server] of [["a token request", "AuthV2"], ["a call of the API", "Api"]] as const) {
      it.live(`does not fail a request of ${name} that waits for ${what}`, () =>
        Effect.gen(function*() {
          const simulator = yield* Simulator.Simulator
          yield* server === "Api" ? simulator.failCalls(delay) : simulator.failTokenRequests(delay)
          const service = yield* startService(file, yield* Simulator.variables)
          const request = yield* Effect.fork(service.get(path))
          yield* simulator.awaitReceived(server, 1)
          const stopping = yield* Effect.fork(service.stop)
          yield* closed(service.port)
          yield* simulator.advanceClock("1 hour")
          const { status, text } = yield* Fiber.join(request)
          const [, { exitCode, stderr, stdout }] = yield* Fiber.join(stopping)
          assert.strictEqual(status, 200, `${text}\n${stdout}${stderr}`)
          assert.include(text, "/data-access/consumers/42")
          assert.strictEqual(exitCode, interruptedExitCode)
        }).pipe(Effect.scoped, Effect.provide([Simulator.layer(), NodeHttpClient.layer])), 60_000)
    }
  }

  it.live(
    "closes the connection of a client that goes on sending requests to the service example",
    () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        yield* simulator.failCalls(delay)
        const service = yield* startService(example.file, yield* Simulator.variables)
        const request = yield* Effect.fork(service.get(example.path))
        yield* simulator.awaitReceived("Api", 1)
        const stopping = yield* Effect.fork(service.stop)
        yield* closed(service.port)
        yield* simulator.advanceClock("1 hour")
        assert.strictEqual((yield* Fiber.join(request)).status, 200)
        const next = yield* Effect.exit(Effect.timeout(service.get(example.path), "5 seconds"))
        assert.include(String(next), "ECONNREFUSED")
        yield* Fiber.join(stopping)
      }).pipe(Effect.scoped, Effect.provide([Simulator.layer(), KeepAlive])),
    60_000
  )

  it("is tested with every example that serves", () => assert.isAbove(onPages.length, 0))
})
