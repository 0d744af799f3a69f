import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Layer, Ref, Schedule, Schema } from "effect"
import { startProcess } from "./childServer.ts"
import type { Measurement } from "./report.ts"
import { keepAliveTransports } from "./transportLayers.ts"

const calls = 400

/** A reverse proxy that closes idle connections, and a way to send calls while it closes them. */
interface Proxy {
  readonly closes: string
  readonly args: ReadonlyArray<string>
  /** Sends all calls. */
  readonly send: (call: Effect.Effect<void>) => Effect.Effect<void>
}

const atOnce = (call: Effect.Effect<void>, times: number) =>
  Effect.all(Array.from({ length: times }, () => call), { concurrency: "unbounded", discard: true })

/** Sends calls in waves. Each wave starts when the proxy closes the connections of the wave before. */
const closesEach = (millis: number): Proxy => ({
  closes: `each connection idle for ${millis} ms is closed`,
  args: [String(millis), "each"],
  send: Effect.fnUntraced(function*(call) {
    const waves = 10
    for (let wave = 0; wave < waves; wave++) {
      const start = performance.now()
      yield* atOnce(call, calls / waves)
      // the connections of a wave were last used one after the other, in the first half of the wave
      const duration = performance.now() - start
      yield* Effect.sleep(Math.max(0, millis - duration * (1 - wave / waves / 2)))
    }
  })
})

/** Sends bursts, which leave idle connections. During the single calls after a burst, the proxy closes all of them. */
const closesAll: Proxy = {
  closes: "all idle connections are closed every 50 ms",
  args: ["50", "all"],
  send: Effect.fnUntraced(function*(call) {
    const bursts = 40
    for (let burst = 0; burst < bursts; burst++) {
      yield* atOnce(call, 5)
      for (let single = 0; single < calls / bursts - 5; single++) yield* Effect.zipRight(Effect.sleep(2), call)
    }
  })
}

const proxies = [closesEach(1_000), closesEach(200), closesAll]

const body = HttpBody.unsafeJson({ name: "a consumer" })

const request = <E>(client: HttpClient.HttpClient.With<E>, method: "GET" | "POST", id: string) => {
  const url = "/data-access/consumers"
  const headers = { "x-call": id }
  return method === "GET" ? client.get(url, { headers }) : client.post(url, { headers, body })
}

/** Sends the calls, and returns how many failed. */
const failures = <E>(client: HttpClient.HttpClient.With<E>, method: "GET" | "POST", proxy: Proxy) =>
  Effect.gen(function*() {
    const sent = yield* Ref.make(0)
    const failed = yield* Ref.make(0)
    yield* proxy.send(
      Ref.updateAndGet(sent, (count) => count + 1).pipe(
        Effect.flatMap((id) => request(client, method, String(id))),
        Effect.flatMap(({ text }) => text),
        Effect.asVoid,
        Effect.catchAll(() => Ref.update(failed, (count) => count + 1))
      )
    )
    return yield* Ref.get(failed)
  })

const Twice = Schema.parseJson(Schema.Struct({ twice: Schema.Number }))

/** How many calls a proxy received more than once. */
const receivedTwice = (url: string) =>
  Effect.tryPromise(() => fetch(`${url}/twice`).then((response) => response.text())).pipe(
    Effect.retry({ times: 5, schedule: Schedule.spaced("100 millis") }),
    Effect.flatMap(Schema.decode(Twice)),
    Effect.map(({ twice }) => twice)
  )

type Transport = Layer.Layer<HttpClient.HttpClient>

/** Sends the calls with a token. Returns how many failed, how many were sent again, and how many were received twice. */
const authenticated = Effect.fnUntraced(function*(transport: Transport, method: "GET" | "POST", proxy: Proxy) {
  const url = yield* startProcess("idleServer.js", ...proxy.args)
  const sent = yield* Ref.make(0)
  const layer = DataAccess.layer({
    transformClient: HttpClient.tapRequest(() => Ref.update(sent, (count) => count + 1))
  }).pipe(
    Layer.provide(AccessTokens.layerTest({ environment: { baseUrl: url } })),
    Layer.provide(transport)
  )
  const failed = yield* Effect.flatMap(DataAccess.DataAccess, (client) => failures(client, method, proxy)).pipe(
    Effect.provide(layer)
  )
  return { failed, sentAgain: (yield* Ref.get(sent)) - calls, twice: yield* receivedTwice(url) }
}, Effect.scoped)

/** Sends the same calls over the bare transport. */
const bare = Effect.fnUntraced(function*(transport: Transport, proxy: Proxy) {
  const url = yield* startProcess("idleServer.js", ...proxy.args)
  return yield* Effect.flatMap(
    HttpClient.HttpClient,
    (client) => failures(HttpClient.mapRequest(client, HttpClientRequest.prependUrl(url)), "GET", proxy)
  ).pipe(Effect.provide(transport))
}, Effect.scoped)

const measure = Effect.fnUntraced(function*(name: string, transport: Transport, proxy: Proxy) {
  const { gets, plain, posts } = yield* Effect.all({
    gets: authenticated(transport, "GET", proxy),
    posts: authenticated(transport, "POST", proxy),
    plain: bare(transport, proxy)
  }, { concurrency: 3 })
  const where = `over ${name}, ${proxy.closes}`
  return [
    {
      what: `${calls} GETs ${where}`,
      value: gets.failed,
      unit: `failed (${gets.sentAgain} sent again; the bare transport: ${plain} failed)`,
      // a call is sent again once, and then it may use another connection that was closed at the same time
      ...(proxy === closesAll ? {} : { atMost: 0 })
    },
    {
      what: `${calls} POSTs ${where}`,
      value: posts.twice,
      unit: `received twice (${posts.sentAgain} sent again, ${posts.failed} failed)`,
      atMost: 0
    }
  ]
})

/** Sends calls through a reverse proxy while it closes idle connections. */
export const idleProxy: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.map(
  Effect.forEach(
    proxies.flatMap((proxy) =>
      Object.entries(keepAliveTransports).map(([name, transport]) => ({ name, proxy, transport }))
    ),
    ({ name, proxy, transport }) => measure(name, transport, proxy)
  ),
  (measurements) => measurements.flat()
)
