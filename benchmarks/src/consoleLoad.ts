import { Effect, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Measurement } from "./report.ts"

/** A separate process, because it uses a browser. */
const program = fileURLToPath(new URL("../../tests/console/src/load.ts", import.meta.url))

const Times = Schema.Array(Schema.Number)

/** Times are in ms, in ascending order. Memory is in MiB. */
const Load = Schema.parseJson(Schema.Struct({
  typing: Times,
  scrolling: Times,
  heap: Schema.Struct({ before: Schema.Number, after: Schema.Number }),
  simulator: Schema.Struct({ before: Schema.Number, later: Schema.Number }),
  shown: Schema.Int
}))

const rows = (what: string, ascending: ReadonlyArray<number>): ReadonlyArray<Measurement> => {
  const at = (share: number) => ascending[Math.floor((ascending.length - 1) * share)] ?? Number.NaN
  return [
    { what: `${what}, p50`, value: at(0.5), unit: "ms" },
    { what: `${what}, p95`, value: at(0.95), unit: "ms", atMost: 200 },
    { what: `${what}, longest`, value: at(1), unit: "ms" }
  ]
}

/** Typing and scrolling in the console while 500 requests per second arrive for 10 s, and the memory 5 minutes later. */
export const consoleLoad: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const output = execFileSync("tsx", [program], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })
  const { heap, scrolling, shown, simulator, typing } = yield* Schema.decode(Load)(output)
  return [
    ...rows("a letter in the filter of the console under load", typing),
    ...rows("a scroll of the console under load", scrolling),
    { what: "heap of the page before the load", value: heap.before, unit: "MiB" },
    { what: "heap of the page 5 minutes after the load", value: heap.after, unit: "MiB" },
    { what: "memory of the simulator before the load", value: simulator.before, unit: "MiB" },
    { what: "memory of the simulator 5 minutes after the load", value: simulator.later, unit: "MiB" },
    { what: "rows that the page keeps", value: shown, unit: "rows", atMost: 1000 }
  ]
})
