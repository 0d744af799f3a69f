import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { GroupClient } from "@credit-data/http-client"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { endpoint, instantEndpoint, instantEndpointOf, token } from "./endpoint.ts"
import { fleetProgram } from "./fleet.ts"
import { median, type Measurement } from "./report.ts"

/** How a cost grows with a size. */
interface Curve {
  readonly what: string
  readonly size: string
  readonly sizes: ReadonlyArray<number>
  /** The milliseconds of each round. */
  readonly rounds: (size: number) => Effect.Effect<ReadonlyArray<number>, unknown>
}

/** The first round is a warm-up. */
const rounds = 6

/** Times a work in this process. */
const timed = (work: Effect.Effect<unknown, unknown>) =>
  Effect.replicateEffect(
    Effect.gen(function*() {
      // a measurement must not collect the garbage of another
      globalThis.gc?.()
      const start = performance.now()
      yield* work
      return performance.now() - start
    }),
    rounds
  )

const all = <A, E, R>(size: number, each: Effect.Effect<A, E, R>) =>
  Effect.all(Array.from({ length: size }, () => each), { concurrency: "unbounded", discard: true })

/** An HttpClient in memory, whose response has this body. */
const responding = (body: string) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.sync(() => HttpClientResponse.fromWeb(request, new Response(body, { status: 200 })))
    )
  )

const auth = AuthV2.layer({
  environment: {
    name: "benchmark",
    audience: "a",
    baseUrl: "https://api.benchmark.example",
    authV2Url: "https://oauth.benchmark.example"
  },
  credentials: { clientId: "id", clientSecret: Redacted.make("secret") },
  scopes: ["data-access:all"]
})

const kibibyte = 1_024

const costs: ReadonlyArray<Curve> = [
  {
    what: "callers without a token, which share one token request",
    size: "callers",
    sizes: [100, 1_000, 10_000, 100_000],
    rounds: (callers) => {
      const slow = endpoint(() => Effect.delay(token("token", "24 hours"), "1 millis"))
      return timed(
        Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => all(callers, get)).pipe(
          Effect.provide(AccessTokens.layer().pipe(Layer.provide(slow)))
        )
      )
    }
  },
  {
    what: "token supplies in one program, each for its own client and with its first token",
    size: "supplies",
    sizes: [1, 10, 100, 1_000],
    rounds: (supplies) => {
      const one = (client: number) =>
        Effect.flatMap(
          Layer.build(Layer.fresh(AccessTokens.layer().pipe(Layer.provide(instantEndpointOf(`client-${client}`))))),
          (context) => Context.get(context, AccessTokens.AccessTokens).get
        )
      return timed(
        Effect.scoped(Effect.forEach(Array.from({ length: supplies }, (_, client) => client), one, { discard: true }))
      )
    }
  },
  {
    what: "clients of endpoint groups in one program, each with a call",
    size: "clients",
    sizes: [1, 10, 100, 1_000],
    rounds: (clients) => {
      const one = Effect.flatMap(GroupClient.make({ name: "Benchmark" }), (client) => client.get("/"))
      return timed(
        Effect.replicateEffect(one, clients, { discard: true }).pipe(
          Effect.scoped,
          Effect.provide(AccessTokens.layer().pipe(Layer.provide(instantEndpoint), Layer.merge(responding("{}"))))
        )
      )
    }
  },
  {
    what: "processes with one token over Redis, until all have it",
    size: "processes",
    sizes: [1, 10, 50, 200],
    rounds: (processes) =>
      Effect.flatMap(
        fleetProgram("processes", processes, rounds),
        Schema.decode(Schema.parseJson(Schema.Array(Schema.Number)))
      )
  },
  {
    what: "20 token requests, one after the other, by the size of the token",
    size: "KiB",
    sizes: [1, 4, 16, 64],
    rounds: (size) => {
      const body = JSON.stringify({
        access_token: "t".repeat(size * kibibyte),
        token_type: "Bearer",
        expires_in: 3_600,
        scope: "data-access:all"
      })
      const one = Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get).pipe(
        Effect.provide(Layer.fresh(auth).pipe(Layer.provide(responding(body))))
      )
      return timed(Effect.replicateEffect(one, 20, { discard: true }))
    }
  }
]

interface Point {
  readonly size: number
  readonly millis: number
}

/** The slope of the least-squares line through the logarithms. */
const exponentOf = (points: ReadonlyArray<Point>): number => {
  const logarithms = points.map(({ millis, size }) => ({ x: Math.log(size), y: Math.log(millis) }))
  const mean = (of: (each: { readonly x: number; readonly y: number }) => number) =>
    logarithms.reduce((sum, each) => sum + of(each), 0) / logarithms.length
  const [x, y] = [mean((each) => each.x), mean((each) => each.y)]
  return mean((each) => (each.x - x) * (each.y - y)) / mean((each) => (each.x - x) ** 2)
}

const number = (value: number) => value >= 100 ? value.toFixed(0) : value.toPrecision(3)

/**
 * How costs grow: the power of the size with which the time grows. 1 is linear, and less means that fixed costs are shared. The token
 * endpoint and the API are in memory, except for the processes, which use a real Redis and a real endpoint.
 */
export const growth: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.forEach(
  costs,
  Effect.fnUntraced(function*({ rounds, size, sizes, what }) {
    const points: Array<Point> = []
    for (const each of sizes) points.push({ size: each, millis: median((yield* rounds(each)).slice(1)) })
    return {
      what: `growth: ${what}`,
      // smaller sizes show what is constant
      value: exponentOf(points.slice(Math.floor(points.length / 2) - 1)),
      unit: `exponent (${points.map((point) => `${point.size} ${size}: ${number(point.millis)} ms`).join(", ")})`,
      atMost: 1.15
    }
  })
)
