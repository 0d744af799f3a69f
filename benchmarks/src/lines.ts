import { Effect } from "effect"
import { startProcess } from "./childServer.ts"
import { effect4 } from "./effect4.ts"
import * as effect3 from "./line/line.ts"
import { median, type Measurement } from "./report.ts"

const rounds = 9
const callers = 10_000

/** The medians of what Effect 3 and Effect 4 take, in turns. The first round warms up. */
const sideBySide = async (measure: (line: typeof effect3) => Promise<number>) => {
  const lines = { effect3, effect4: await effect4 }
  const figures: Record<keyof typeof lines, Array<number>> = { effect3: [], effect4: [] }
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 === 0 ? ["effect3", "effect4"] as const : ["effect4", "effect3"] as const) {
      globalThis.gc?.()
      const figure = await measure(lines[name])
      if (round > 0) figures[name].push(figure)
    }
  }
  return { effect3: median(figures.effect3), effect4: median(figures.effect4) }
}

const withSupply = (
  base: () => string,
  measure: (supply: Awaited<ReturnType<typeof effect3.makeSupply>>) => Promise<number>
) =>
async (line: typeof effect3) => {
  const supply = await line.makeSupply(base())
  const figure = await measure(supply)
  await supply.dispose()
  return figure
}

const timed = async (work: () => Promise<unknown>) => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** What the same costs on Effect 4, as a share of what it costs on Effect 3. */
export const lines: Effect.Effect<ReadonlyArray<Measurement>> = Effect.gen(function*() {
  const url = yield* startProcess("peers/tokenServer.js")
  let run = 0
  const base = () => `${url}/lines${++run}/50/3600/0`
  const rows = [
    ["a cached `get` in a fiber", "ns", 0.7, withSupply(base, ({ timeGet }) => timeGet(300_000))],
    ["`runPromise(get)` of a cached token", "ns", 0.4, withSupply(base, ({ timePromise }) => timePromise(100_000))],
    [
      "10 000 cold callers, wall time",
      "ms",
      0.7,
      withSupply(base, ({ get }) => timed(() => Promise.all(Array.from({ length: callers }, get))))
    ]
  ] as const
  return yield* Effect.forEach(
    rows,
    ([what, unit, atMost, measure]) =>
      Effect.map(Effect.promise(() => sideBySide(measure)), ({ effect3, effect4 }) => ({
        what: `Effect 4: ${what}`,
        value: effect4 / effect3,
        unit: `× Effect 3 (${effect4.toFixed(0)} and ${effect3.toFixed(0)} ${unit})`,
        atMost
      }))
  )
}).pipe(Effect.scoped)
