// What a line of Effect takes, measured in its own process: two copies of Effect in one process affect each other.
// Its arguments are the module to measure and the address of the token server. Its message is the figures.

import type * as effect3 from "./line/line.ts"
import { median } from "./report.ts"

const [module = "", url = ""] = process.argv.slice(2)
const line: typeof effect3 = await import(module)

const rounds = 7
let run = 0
const base = () => `${url}/${process.pid}-${++run}/50/3600/0`

/** The median of some rounds. The first two warm up. */
const measure = async (round: () => Promise<number>) => {
  const figures: Array<number> = []
  for (let count = 0; count < rounds + 2; count++) {
    globalThis.gc?.()
    const figure = await round()
    if (count > 1) figures.push(figure)
  }
  return median(figures)
}

const cold = async () => {
  const { dispose, get } = await line.makeSupply(base())
  const start = performance.now()
  await Promise.all(Array.from({ length: 10_000 }, get))
  const millis = performance.now() - start
  await dispose()
  return millis
}

const supply = await line.makeSupply(base())
const figures = {
  get: await measure(() => supply.timeGet(300_000)),
  promise: await measure(() => supply.timePromise(50_000)),
  cold: await measure(cold)
}
await supply.dispose()
process.send?.(figures)
