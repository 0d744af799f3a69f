import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { GroupClient } from "@credit-data/http-client"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Console, Context, Effect, Layer, Redacted, Schema } from "effect"
import { writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import * as Draw from "../../tests/fleet/src/simulation/draw.ts"
import * as Fleet from "../../tests/fleet/src/simulation/fleet.ts"
import { scenarios, seed } from "../../tests/fleet/src/simulation/scenarios.ts"
import { endpoint, instantEndpoint, token } from "./endpoint.ts"
import { fleetProgram } from "./fleet.ts"
import { grid, median } from "./report.ts"

const results = fileURLToPath(new URL("../results/", import.meta.url))

/** How a cost grows with a size. */
interface Curve {
  readonly what: string
  readonly size: string
  /** The number of equal works in a time. Default: the size. */
  readonly per?: number
  readonly sizes: ReadonlyArray<number>
  /** The milliseconds of each round. */
  readonly rounds: (size: number) => Effect.Effect<ReadonlyArray<number>, unknown>
}

/** A time that grows faster than this power of the size is not linear. */
const mostExponent = 1.15

/** The first round is a warm-up. */
const rounds = 6

/** Times a work in this process. */
const timed = (work: Effect.Effect<unknown, unknown>, times = rounds) =>
  Effect.replicateEffect(
    Effect.gen(function*() {
      // a measurement must not collect the garbage of another
      globalThis.gc?.()
      const start = performance.now()
      yield* work
      return performance.now() - start
    }),
    times
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

const curves: ReadonlyArray<Curve> = [
  {
    what: "Callers without a token, which share one token request",
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
    what: "Token supplies in one program, each with its first token",
    size: "supplies",
    sizes: [1, 10, 100, 1_000],
    rounds: (supplies) => {
      const one = Effect.flatMap(
        Layer.build(Layer.fresh(AccessTokens.layer().pipe(Layer.provide(instantEndpoint)))),
        (context) => Context.get(context, AccessTokens.AccessTokens).get
      )
      return timed(Effect.scoped(Effect.replicateEffect(one, supplies, { discard: true })))
    }
  },
  {
    what: "Clients of endpoint groups in one program, each with a call",
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
    what: "Processes with one token over Redis, until all have it",
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
    per: 20,
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
  },
  {
    what: "A simulated fleet over 48 hours",
    size: "processes",
    sizes: [100, 1_000, 10_000, 100_000, 1_000_000],
    rounds: (clients) =>
      timed(
        Effect.sync(() => Fleet.run({ ...scenarios.usual, clients }, Draw.seeded(seed))),
        // a round of the largest fleet takes five seconds
        clients >= 1_000_000 ? 1 : rounds
      )
  }
]

interface Point {
  readonly size: number
  readonly millis: number
}

interface Measured extends Omit<Curve, "rounds"> {
  readonly points: ReadonlyArray<Point>
  /** The power of the size with which the time grows, fitted to the larger half of the sizes. Smaller sizes show what is constant. */
  readonly exponent: number
}

/** The slope of the least-squares line through the logarithms. */
const exponentOf = (points: ReadonlyArray<Point>): number => {
  const logarithms = points.map(({ millis, size }) => ({ x: Math.log(size), y: Math.log(millis) }))
  const mean = (of: (each: { readonly x: number; readonly y: number }) => number) =>
    logarithms.reduce((sum, each) => sum + of(each), 0) / logarithms.length
  const [x, y] = [mean((each) => each.x), mean((each) => each.y)]
  return mean((each) => (each.x - x) * (each.y - y)) / mean((each) => (each.x - x) ** 2)
}

const measure = Effect.fnUntraced(function*({ rounds, sizes, ...curve }: Curve) {
  const points: Array<Point> = []
  for (const each of sizes) {
    const times = yield* rounds(each)
    points.push({ size: each, millis: median(times.length === 1 ? times : times.slice(1)) })
  }
  return { ...curve, sizes, points, exponent: exponentOf(points.slice(Math.floor(points.length / 2) - 1)) }
})

const number = (value: number) => value >= 100 ? value.toFixed(0) : value.toPrecision(3)

const many = (size: number) => size.toLocaleString("en").replaceAll(",", " ")

const tableOf = ({ exponent, per, points, size, what }: Measured): string =>
  [
    `## ${what}`,
    "",
    grid([
      [size, "ms", "µs each"],
      ...points.map((
        point
      ) => [many(point.size), number(point.millis), number((point.millis * 1_000) / (per ?? point.size))])
    ]),
    "",
    `The exponent is ${exponent.toFixed(2)}. The threshold is ${mostExponent}.`
  ].join("\n")

const panel = { width: 330, height: 210, left: 48, bottom: 40, top: 34, right: 14 }

const escape = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;")

/** The points on logarithmic axes, where a line with the slope of the diagonal is linear growth. */
const panelOf = ({ points, size, what }: Measured, index: number): string => {
  const logarithm = (value: number) => Math.log10(value)
  const xs = points.map((point) => logarithm(point.size))
  const ys = points.map((point) => logarithm(point.millis))
  const low = { x: Math.floor(Math.min(...xs)), y: Math.floor(Math.min(...ys)) }
  // the same number of decades on both axes
  const decades = Math.max(Math.ceil(Math.max(...xs)) - low.x, Math.ceil(Math.max(...ys)) - low.y, 1)
  const inner = { width: panel.width - panel.left - panel.right, height: panel.height - panel.top - panel.bottom }
  const x = (value: number) => panel.left + ((value - low.x) / decades) * inner.width
  const y = (value: number) => panel.top + inner.height - ((value - low.y) / decades) * inner.height
  const ticks = Array.from({ length: decades + 1 }, (_, decade) => decade)
  const label = (exponent: number) => exponent < 0 ? String(10 ** exponent) : many(10 ** exponent)
  return [
    `<g transform="translate(${(index % 2) * panel.width} ${Math.floor(index / 2) * panel.height})">`,
    `<text x="8" y="18" font-weight="bold">${escape(what)}</text>`,
    ...ticks.flatMap((decade) => [
      `<path d="M${x(low.x + decade)} ${panel.top}V${panel.top + inner.height}" stroke="#ddd"/>`,
      `<path d="M${panel.left} ${y(low.y + decade)}H${panel.left + inner.width}" stroke="#ddd"/>`,
      `<text x="${x(low.x + decade)}" y="${panel.top + inner.height + 14}" text-anchor="middle">${
        label(low.x + decade)
      }</text>`,
      `<text x="${panel.left - 4}" y="${y(low.y + decade) + 4}" text-anchor="end">${label(low.y + decade)}</text>`
    ]),
    `<text x="${panel.left + inner.width}" y="${panel.height - 10}" text-anchor="end">${
      escape(size)
    }, against ms</text>`,
    `<path d="M${
      points.map((_, at) => `${x(xs[at] ?? 0)} ${y(ys[at] ?? 0)}`).join("L")
    }" fill="none" stroke="#0b7a75" stroke-width="2"/>`,
    ...points.map((_, at) => `<circle cx="${x(xs[at] ?? 0)}" cy="${y(ys[at] ?? 0)}" r="3" fill="#0b7a75"/>`),
    "</g>"
  ].join("\n")
}

const plot = (measured: ReadonlyArray<Measured>): string => {
  const height = Math.ceil(measured.length / 2) * panel.height
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${
      2 * panel.width
    }" height="${height}" font-family="sans-serif" font-size="10">`,
    "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
    ...measured.map(panelOf),
    "</svg>",
    ""
  ].join("\n")
}

/** Measures how costs grow, writes the page with its plot, and returns whether none grows faster than its size. */
export const measureCurves = (machine: string): Effect.Effect<boolean, unknown> =>
  Effect.gen(function*() {
    const measured = yield* Effect.forEach(curves, measure)
    const page = [
      "# How costs grow",
      "",
      "No cost may grow much faster than linearly. An exponent of 1 means linear growth; below 1, fixed costs are shared. The fit ignores",
      "the smallest sizes. `npx -y pnpm@10.34.9 bench curves` writes this page, and fails above the threshold. Each time is the median of five",
      "rounds. The token endpoint and the API are in memory, so the network adds nothing. Only the processes use a real Redis and a real endpoint:",
      "the first one requests the token, and the others wait for it, so ten processes cost far more than ten times as much as one.",
      "",
      machine,
      "",
      "![The same times on logarithmic axes](curves.svg)",
      "",
      measured.map(tableOf).join("\n\n"),
      ""
    ].join("\n")
    yield* Effect.promise(() => writeFile(`${results}curves.md`, page))
    yield* Effect.promise(() => writeFile(`${results}curves.svg`, plot(measured)))
    yield* Console.log(page)
    return measured.every(({ exponent }) => exponent <= mostExponent)
  })
