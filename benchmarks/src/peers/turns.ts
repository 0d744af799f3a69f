import { effect4 } from "../effect4.ts"
import * as effect3 from "../line/line.ts"
import { median } from "../report.ts"
import { us, us4 } from "./peers.ts"
import type { Result } from "./result.ts"

/** Runs every measurement once per round, and returns the medians. */
export const interleaved = async (
  rounds: number,
  measured: Readonly<Record<string, () => Promise<number>>>
): Promise<Record<string, number>> => {
  const figures = Object.keys(measured).map((name): readonly [string, Array<number>] => [name, []])
  for (let round = 0; round <= rounds; round++) {
    for (const [name, values] of round % 2 === 0 ? figures : figures.toReversed()) {
      // A measurement must not collect the garbage of another. V8 also discards code that was not called between a few collections, so
      // without --no-flush-bytecode each round would compile its library again.
      globalThis.gc?.()
      const value = await measured[name]?.()
      // the first round is a warm-up
      if (value !== undefined && round > 0) values.push(value)
    }
  }
  return Object.fromEntries(figures.map(([name, values]) => [name, median(values)]))
}

export const lineOf = { [us]: effect3, [us4]: await effect4 }

export const floorName = (name: string) => `the floor of ${name}`

/** Separates the libraries from what was measured without them, under the name that `nameOf` makes of a library. */
const split = (
  all: Readonly<Record<string, number>>,
  nameOf: (name: string) => string
): Pick<Result, "values" | "floors"> => ({
  values: Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith(floorName("")))),
  floors: Object.fromEntries(Object.keys(lineOf).map((name) => [name, all[nameOf(name)] ?? Number.NaN]))
})

/** Measures the libraries and the floors in turns. */
export const withFloors = async (
  rounds: number,
  measured: Readonly<Record<string, () => Promise<number>>>,
  floor: (line: typeof effect3) => Promise<() => Promise<number>>
): Promise<Pick<Result, "values" | "floors">> => {
  const floors: Record<string, () => Promise<number>> = {}
  for (const [name, line] of Object.entries(lineOf)) floors[floorName(name)] = await floor(line)
  const all = await interleaved(rounds, { ...measured, ...floors })
  return split(all, floorName)
}
