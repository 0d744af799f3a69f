import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { FetchHttpClient, HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Random, Redacted } from "effect"
import { startProcess } from "./childServer.ts"
import { type Measurement, median } from "./report.ts"

const inFlight = 32
const callsPerRound = 1_000
const rounds = 41

/** The CPU time of a call, in microseconds. */
const cpu = <A, E>(call: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const before = process.cpuUsage()
    yield* Effect.all(Array.from({ length: callsPerRound }, () => call), { concurrency: inFlight, discard: true })
    const { system, user } = process.cpuUsage(before)
    return (system + user) / callsPerRound
  })

/** The CPU time of an authenticated call, as a ratio to the call over the bare transport. Each call has one span. */
const authenticatedCallOver = Effect.fnUntraced(function*(
  name: string,
  transport: Layer.Layer<HttpClient.HttpClient>
) {
  const url = yield* startProcess("server.js")
  const auth = AuthV2.layer({
    environment: { name: "benchmark", audience: "a", baseUrl: url, authV2Url: url },
    credentials: { clientId: "id", clientSecret: Redacted.make("secret") },
    scopes: ["data-access:all"]
  })
  return yield* Effect.gen(function*() {
    const plain = HttpClient.withTracerPropagation(yield* HttpClient.HttpClient, false)
    const dataAccess = yield* DataAccess.DataAccess
    const headers = { authorization: "Bearer benchmark-token" }
    const bare = Effect.flatMap(plain.get(`${url}/data-access/consumers/42`, { headers }), ({ text }) => text)
    const ours = Effect.flatMap(dataAccess.get("/data-access/consumers/42"), ({ text }) => text)
    const own: Array<number> = []
    const floor: Array<number> = []
    for (let round = 0; round <= rounds; round++) {
      const [first, second] = round % 2 === 0 ? [bare, ours] : [ours, bare]
      const figures = [yield* cpu(first), yield* cpu(second)]
      const [reference = Number.NaN, measured = Number.NaN] = round % 2 === 0 ? figures : figures.toReversed()
      if (round > 0) {
        own.push(measured)
        floor.push(reference)
      }
    }
    return [{
      what: `CPU of an authenticated call over ${name}, 32 in flight`,
      // a ratio of medians: the collection of garbage falls into some rounds of either
      value: median(own) / median(floor),
      unit: `× the bare transport (${median(floor).toFixed(0)} µs)`,
      atMost: 1.05
    }]
  }).pipe(Effect.provide(DataAccess.layer().pipe(Layer.provide(auth), Layer.provideMerge(transport))))
}, Effect.scoped)

/** The ratio for each of the three transports of Node. */
export const authenticatedCall: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.map(
  Effect.all([
    authenticatedCallOver("node:http", NodeHttpClient.layer),
    authenticatedCallOver("undici", NodeHttpClient.layerUndici),
    authenticatedCallOver("fetch", FetchHttpClient.layer)
  ]),
  (measurements) => measurements.flat()
)

/** A hundred calls whose 401s arrive one after the other, long after the first 401 has caused a renewal. */
export const lateRejections: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const dataAccess = yield* DataAccess.DataAccess
  const call = Effect.map(dataAccess.get("/data-access/consumers/42"), ({ status }) => status)
  yield* call
  for (let index = 0; index < 100; index++) {
    yield* simulator.failCalls(Fault.Delay({ duration: 100 + (yield* Random.nextIntBetween(0, 500)) }))
  }
  const calls = yield* Effect.fork(Effect.all(Array.from({ length: 100 }, () => call), { concurrency: "unbounded" }))
  yield* simulator.awaitReceived("Api", 101)
  yield* simulator.revokeTokens
  const statuses = yield* calls
  return [
    { what: "100 late 401s", value: (yield* simulator.tokenRequests) - 1, unit: "renewals", atMost: 1 },
    {
      what: "100 late 401s",
      value: statuses.filter((status) => status !== 200).length,
      unit: "failed calls",
      atMost: 0
    }
  ]
}).pipe(
  Effect.provide(
    DataAccess.layer().pipe(
      Layer.provide(AuthV2.layerConfig()),
      Layer.provide(NodeHttpClient.layer),
      Layer.provide(Simulator.layerConfigProvider),
      Layer.provideMerge(Simulator.layer())
    )
  )
)
