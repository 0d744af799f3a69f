import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Layer, Ref, Schema } from "effect"
import { startProcess } from "./childServer.ts"
import type { Measurement } from "./report.ts"
import { keepAliveTransports } from "./transportLayers.ts"

const waves = 10
const callsPerWave = 40
const calls = waves * callsPerWave

/** After these times without a request, in milliseconds, the proxy closes a connection. The shorter one meets more calls. */
const idleTimes = [1_000, 200]

const body = HttpBody.unsafeJson({ name: "a consumer" })

const request = <E>(client: HttpClient.HttpClient.With<E>, method: "GET" | "POST", id: string) => {
  const url = "/data-access/consumers"
  const headers = { "x-call": id }
  return method === "GET" ? client.get(url, { headers }) : client.post(url, { headers, body })
}

/**
 * Sends the calls in waves, each at the time when the proxy closes the connections of the one before. Returns how many failed.
 */
const failures = <E>(client: HttpClient.HttpClient.With<E>, method: "GET" | "POST", idleTime: number) =>
  Effect.gen(function*() {
    const failed = yield* Ref.make(0)
    for (let wave = 0; wave < waves; wave++) {
      const start = performance.now()
      yield* Effect.forEach(
        Array.from({ length: callsPerWave }, (_, call) => `${wave}.${call}`),
        (id) =>
          request(client, method, id).pipe(
            Effect.flatMap(({ text }) => text),
            Effect.catchAll(() => Ref.update(failed, (count) => count + 1))
          ),
        { concurrency: "unbounded", discard: true }
      )
      // the connections of a wave were last used one after the other, in the first half of the wave
      const duration = performance.now() - start
      yield* Effect.sleep(Math.max(0, idleTime - duration * (1 - wave / waves / 2)))
    }
    return yield* Ref.get(failed)
  })

const Twice = Schema.parseJson(Schema.Struct({ twice: Schema.Number }))

/** How many calls a proxy received more than once. */
const receivedTwice = (proxy: string) =>
  Effect.promise(() => fetch(`${proxy}/twice`).then((response) => response.text())).pipe(
    Effect.flatMap(Schema.decode(Twice)),
    Effect.map(({ twice }) => twice)
  )

type Transport = Layer.Layer<HttpClient.HttpClient>

/** The calls with a token: how many failed, how many were sent again, and how many were received twice. */
const authenticated = Effect.fnUntraced(function*(transport: Transport, method: "GET" | "POST", idleTime: number) {
  const proxy = yield* startProcess("idleServer.js", String(idleTime))
  const sent = yield* Ref.make(0)
  const layer = DataAccess.layer({
    transformClient: HttpClient.tapRequest(() => Ref.update(sent, (count) => count + 1))
  }).pipe(
    Layer.provide(AccessTokens.layerTest({ environment: { baseUrl: proxy } })),
    Layer.provide(transport)
  )
  const failed = yield* Effect.flatMap(DataAccess.DataAccess, (client) => failures(client, method, idleTime)).pipe(
    Effect.provide(layer)
  )
  return { failed, sentAgain: (yield* Ref.get(sent)) - calls, twice: yield* receivedTwice(proxy) }
}, Effect.scoped)

/** The same calls over the transport itself. */
const bare = Effect.fnUntraced(function*(transport: Transport, idleTime: number) {
  const proxy = yield* startProcess("idleServer.js", String(idleTime))
  return yield* Effect.flatMap(
    HttpClient.HttpClient,
    (client) => failures(HttpClient.mapRequest(client, HttpClientRequest.prependUrl(proxy)), "GET", idleTime)
  ).pipe(
    Effect.provide(transport)
  )
}, Effect.scoped)

const measure = Effect.fnUntraced(function*(name: string, transport: Transport, idleTime: number) {
  const { gets, plain, posts } = yield* Effect.all({
    gets: authenticated(transport, "GET", idleTime),
    posts: authenticated(transport, "POST", idleTime),
    plain: bare(transport, idleTime)
  }, { concurrency: 3 })
  const where = `over ${name}, connections closed after ${idleTime} ms`
  return [
    {
      what: `${calls} GETs ${where}`,
      value: gets.failed,
      unit: `failed (${gets.sentAgain} sent again; the bare transport: ${plain} failed)`,
      atMost: 0
    },
    {
      what: `${calls} POSTs ${where}`,
      value: posts.twice,
      unit: `received twice (${posts.sentAgain} sent again, ${posts.failed} failed)`,
      atMost: 0
    }
  ]
})

/** Calls through a reverse proxy that closes idle connections, at the time when it closes them. */
export const idleProxy: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.map(
  Effect.forEach(
    idleTimes.flatMap((idleTime) =>
      Object.entries(keepAliveTransports).map(([name, transport]) => ({ idleTime, name, transport }))
    ),
    ({ idleTime, name, transport }) => measure(name, transport, idleTime)
  ),
  (measurements) => measurements.flat()
)
