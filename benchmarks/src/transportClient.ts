// Calls a business API over one transport in a separate process. `fetch` has one pool for the whole process, and Node reads
// `NODE_EXTRA_CA_CERTS` when a process starts. The arguments are the transport's name, the server for the warm-up, and the
// servers for the sequential and the concurrent calls.

import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { calls, concurrent, warmUpCalls } from "./transportCalls.ts"
import { allTransports } from "./transportLayers.ts"

const [name = "", warmUp = "", ...servers] = process.argv.slice(2)

/** Sends the calls, with this many in flight, and returns their times and their CPU time. */
const measure = (baseUrl: string, calls: number, inFlight: number) =>
  Effect.gen(function*() {
    const dataAccess = yield* DataAccess.DataAccess
    const millis: Array<number> = []
    let connections = 0
    const call = Effect.gen(function*() {
      const start = performance.now()
      const response = yield* dataAccess.get("/data-access/consumers/42")
      yield* response.text
      millis.push(performance.now() - start)
      connections = Math.max(connections, Number(response.headers["x-connections"]))
    })
    const before = process.cpuUsage()
    yield* Effect.all(Array.from({ length: calls }, () => call), { concurrency: inFlight, discard: true })
    const { system, user } = process.cpuUsage(before)
    const sorted = millis.toSorted((a, b) => a - b)
    const quantile = (share: number) => sorted[Math.floor(calls * share)] ?? Number.NaN
    return { inFlight, connections, p50: quantile(0.5), p99: quantile(0.99), cpu: (system + user) / calls }
  }).pipe(
    Effect.provide(
      DataAccess.layer().pipe(
        Layer.provide(AccessTokens.layerTest({ environment: { baseUrl } })),
        Layer.provide(allTransports[name] ?? Layer.die(`There is no transport ${name}`))
      )
    )
  )

Effect.gen(function*() {
  yield* measure(warmUp, warmUpCalls, concurrent)
  const figures = yield* Effect.forEach(
    servers,
    (server, index) => measure(server, calls, index === 0 ? 1 : concurrent)
  )
  yield* Effect.async<void>((resume) => {
    process.send?.(figures, () => resume(Effect.void))
  })
  process.disconnect()
}).pipe(NodeRuntime.runMain)
