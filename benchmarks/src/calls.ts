import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
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

/**
 * What a program would write with the platform's combinators for the main promises of a client: the token, no redirect, and one span
 * without the URL.
 */
const withCombinators = (client: HttpClient.HttpClient) =>
  client.pipe(
    HttpClient.mapRequest(HttpClientRequest.bearerToken("benchmark-token")),
    HttpClient.withTracerDisabledWhen(() => true),
    HttpClient.transformResponse((call) =>
      call.pipe(
        Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
        Effect.withSpan("GET", {
          kind: "client",
          captureStackTrace: false,
          attributes: {
            "credit_data.environment": "benchmark",
            "http.request.method": "GET",
            "server.address": "localhost"
          }
        })
      )
    )
  )

/** The CPU time of an authenticated call, as a ratio to two others over the same transport. Each call has one span. */
const authenticatedCallOver = Effect.fnUntraced(function*(
  name: string,
  transport: Layer.Layer<HttpClient.HttpClient>,
  atMost: number
) {
  const url = yield* startProcess("server.js")
  const auth = AuthV2.layer({
    environment: { name: "benchmark", audience: "a", baseUrl: url, authV2Url: url },
    credentials: { clientId: "id", clientSecret: Redacted.make("secret") },
    scopes: ["data-access:all"]
  })
  return yield* Effect.gen(function*() {
    const bare = HttpClient.withTracerPropagation(yield* HttpClient.HttpClient, false)
    const path = "/data-access/consumers/42"
    const headers = { authorization: "Bearer benchmark-token" }
    const kinds = {
      bare: bare.get(`${url}${path}`, { headers }),
      combinators: withCombinators(bare).get(`${url}${path}`),
      ours: (yield* DataAccess.DataAccess).get(path)
    }
    const figures: Record<keyof typeof kinds, Array<number>> = { bare: [], combinators: [], ours: [] }
    for (let round = 0; round <= rounds; round++) {
      const names = ["bare", "combinators", "ours"] as const
      for (const kind of round % 2 === 0 ? names : names.toReversed()) {
        const micros = yield* cpu(Effect.flatMap(kinds[kind], (response) => response.text))
        if (round > 0) figures[kind].push(micros)
      }
    }
    const what = `CPU of an authenticated call over ${name}, 32 in flight`
    // a ratio of medians: the collection of garbage falls into some rounds of each
    const compared = (floor: "bare" | "combinators", text: string, atMost: number) => ({
      what,
      value: median(figures.ours) / median(figures[floor]),
      unit: `× ${text} (${median(figures[floor]).toFixed(0)} µs)`,
      atMost
    })
    return [compared("bare", "the bare transport", atMost), compared("combinators", "combinators", 1.15)]
  }).pipe(Effect.provide(DataAccess.layer().pipe(Layer.provide(auth), Layer.provideMerge(transport))))
}, Effect.scoped)

/** The ratio for each of the three transports of Node. */
export const authenticatedCall: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.map(
  Effect.all([
    authenticatedCallOver("node:http", NodeHttpClient.layer, 1.15),
    authenticatedCallOver("undici", NodeHttpClient.layerUndici, 1.2),
    authenticatedCallOver("fetch", FetchHttpClient.layer, 1.2)
  ]),
  (measurements) => measurements.flat()
)
