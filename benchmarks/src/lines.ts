import { Effect, Schema } from "effect"
import { firstMessage, startProcess } from "./childServer.ts"
import { median, type Measurement } from "./report.ts"

const rounds = 3

const modules = {
  effect3: new URL("line/line.js", import.meta.url).href,
  effect4: new URL("../../effect-4/generated/benchmarks/dist/line.js", import.meta.url).href
}

const Figures = Schema.Struct({ get: Schema.Number, promise: Schema.Number, cold: Schema.Number })

const rows = [
  ["get", "a cached `get` in a fiber", "ns", 0.7],
  ["promise", "`runPromise(get)` of a cached token", "ns", 0.4],
  ["cold", "10 000 callers without a token, wall time", "ms", 0.7]
] as const

/** The figures on Effect 4, as a share of the figures on Effect 3: medians of processes in turns. */
export const lines: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const url = yield* startProcess("peers/tokenServer.js")
  const figuresOf = (module: string) =>
    Effect.scoped(Effect.flatMap(firstMessage("lineFigures.js", [module, url]), Schema.decodeUnknown(Figures)))
  const effect3: Array<typeof Figures.Type> = []
  const effect4: Array<typeof Figures.Type> = []
  for (let round = 0; round < rounds; round++) {
    effect3.push(yield* figuresOf(modules.effect3))
    effect4.push(yield* figuresOf(modules.effect4))
  }
  return rows.map(([name, what, unit, atMost]) => {
    const three = median(effect3.map((figures) => figures[name]))
    const four = median(effect4.map((figures) => figures[name]))
    return {
      what: `Effect 4: ${what}`,
      value: four / three,
      unit: `× Effect 3 (${four.toFixed(0)} and ${three.toFixed(0)} ${unit})`,
      atMost
    }
  })
}).pipe(Effect.scoped)
