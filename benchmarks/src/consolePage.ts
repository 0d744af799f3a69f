import { Effect, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Measurement } from "./report.ts"

/** Runs in its own process, because it uses a browser. */
const program = fileURLToPath(new URL("../../tests/console/src/frames.ts", import.meta.url))

/** The times between frames are in ms, in ascending order. */
const Frames = Schema.parseJson(Schema.Struct({
  requests: Schema.Int,
  idle: Schema.Array(Schema.Number),
  busy: Schema.Array(Schema.Number),
  seconds: Schema.Number,
  shown: Schema.Int
}))

const rows = (what: string, ascending: ReadonlyArray<number>): ReadonlyArray<Measurement> => {
  const at = (share: number) => ascending[Math.floor((ascending.length - 1) * share)] ?? Number.NaN
  return [
    { what: `frames of ${what}, p50`, value: at(0.5), unit: "ms" },
    { what: `frames of ${what}, p95`, value: at(0.95), unit: "ms" },
    { what: `frames of ${what}, longest`, value: at(1), unit: "ms" }
  ]
}

/** The frame times of the console while 10 000 requests arrive, against the same page while nothing happens. */
export const consolePage: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const output = execFileSync("tsx", [program], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })
  const { busy, idle, requests, seconds, shown } = yield* Schema.decode(Frames)(output)
  return [
    ...rows("the idle console", idle),
    ...rows(`the console while ${requests} requests arrive`, busy),
    { what: "time until it shows the last of them", value: seconds, unit: "s" },
    { what: "rows that it keeps", value: shown, unit: "rows", atMost: 1000 }
  ]
})
