import { Simulator } from "@credit-data/simulator"
import { freePorts } from "@credit-data/test-support/freePorts"
import { listen } from "@credit-data/test-support/listen"
import { startLoadBalancer } from "@credit-data/test-support/loadBalancer"
import { startService } from "@credit-data/test-support/service"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { createServer } from "node:http"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"

const file = fileURLToPath(new URL("../src/service/main.ts", import.meta.url))

/** A client that keeps its connections. */
const KeepAlive = NodeHttpClient.layerWithoutAgent.pipe(
  Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: true }))
)

/** Starts the service on this port. Returns what ends it. */
const start = (port: number) =>
  Effect.flatMap(
    Simulator.variables,
    (variables) => Effect.map(startService(file, { ...variables, PORT: String(port) }), ({ stop }) => stop)
  )

for (const name of ["nginx", "haproxy"] as const) {
  it.live(
    `no request is lost behind ${name} while its two services are replaced one after the other`,
    () =>
      Effect.gen(function*() {
        const port = yield* freePorts(2)
        const ports = [port, port + 1]
        const stops = yield* Effect.forEach(ports, start)
        const url = yield* startLoadBalancer(name, ports)
        const statuses = new Map<string, number>()
        const used = new Set<number>()
        const call = HttpClient.get(`${url}/consumers/42`).pipe(
          Effect.tap((response) => response.text),
          Effect.tap(({ headers }) => Effect.sync(() => used.add(Number(/\d*$/.exec(headers["x-server"] ?? "")?.[0])))),
          Effect.match({ onFailure: (error) => error.message, onSuccess: ({ status }) => String(status) }),
          Effect.map((status) => statuses.set(status, (statuses.get(status) ?? 0) + 1))
        )
        const callers = yield* Effect.forkScoped(
          Effect.all(Array.from({ length: 8 }, () => Effect.forever(call)), { concurrency: "unbounded" })
        )
        for (const round of [1, 2]) {
          for (const [index, port] of ports.entries()) {
            const [duration] = yield* stops[index] ?? Effect.die("no service")
            assert.isBelow(Duration.toSeconds(duration), 20, `round ${round}`)
            stops[index] = yield* start(port)
            used.clear()
            yield* Effect.sleep("50 millis").pipe(
              Effect.repeat({ until: () => used.has(port) }),
              Effect.timeoutFail({ duration: "30 seconds", onTimeout: () => `${name} does not use the new service` })
            )
          }
        }
        yield* Fiber.interrupt(callers)
        yield* Effect.all(stops)
        assert.deepStrictEqual([...statuses.keys()], ["200"], JSON.stringify([...statuses]))
      }).pipe(Effect.scoped, Effect.provide([Simulator.layer(), KeepAlive])),
    120_000
  )
}

/** A server that counts the deliveries of each path. It closes the connection of a request to a path that it sees for the first time. */
const countingServer = (deliveries: Map<string, number>) =>
  listen(createServer((request, response) => {
    const { url = "" } = request
    if (url === "/health/live") return void response.end()
    const count = (deliveries.get(url) ?? 0) + 1
    deliveries.set(url, count)
    request.resume().on("end", () => url.includes("reset") && count === 1 ? request.socket.destroy() : response.end())
  }))

for (const name of ["nginx", "haproxy"] as const) {
  it.live(
    `${name} sends a POST to another server only if the first one did not receive it`,
    () =>
      Effect.gen(function*() {
        const deliveries = new Map<string, number>()
        const ports = [yield* countingServer(deliveries), yield* countingServer(deliveries)]
        const stopped = yield* Scope.make()
        const url = yield* startLoadBalancer(name, [...ports, yield* Scope.extend(countingServer(deliveries), stopped)])
        const statuses = (method: "GET" | "POST", path: string) =>
          Effect.forEach(
            Array.from({ length: 9 }, (_, call) => `${url}/${path}-${method}-${call}`),
            (url) => Effect.map(HttpClient.execute(HttpClientRequest.make(method)(url)), ({ status }) => status)
          )
        yield* Scope.close(stopped, Exit.void)
        assert.deepStrictEqual(yield* statuses("POST", "refused"), Array(9).fill(200))
        assert.deepStrictEqual(yield* statuses("POST", "reset"), Array(9).fill(502))
        assert.deepStrictEqual([...new Set(deliveries.values())], [1])
        // nginx uses no server for a moment after all have failed
        if (name === "haproxy") assert.deepStrictEqual(yield* statuses("GET", "reset"), Array(9).fill(200))
      }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer)),
    60_000
  )
}

it.live("an unfinished request does not keep the service beyond its limit", () =>
  Effect.gen(function*() {
    const service = yield* startService(file, yield* Simulator.variables)
    yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof connect>>((resume) => {
        const socket = connect(service.port, "127.0.0.1", () => {
          socket.write("GET /consumers/42 HTTP/1.1\r\nhost: service\r\n", () => resume(Effect.succeed(socket)))
        }).on("error", () => {})
      }),
      (socket) => Effect.sync(() => socket.destroy())
    )
    const [duration] = yield* Effect.timeout(service.stop, "40 seconds")
    assert.closeTo(Duration.toSeconds(duration), 20, 3)
  }).pipe(Effect.scoped, Effect.provide([Simulator.layer(), NodeHttpClient.layer])), 60_000)
