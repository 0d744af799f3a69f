import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Draw from "../src/simulation/draw.ts"
import * as EventQueue from "../src/simulation/eventQueue.ts"
import * as Fleet from "../src/simulation/fleet.ts"
import { pictures } from "../src/simulation/pictures.ts"
import { resultOf } from "../src/simulation/results.ts"
import { outageOf, peakAfterStart, requestsOf, second } from "../src/simulation/scenario.ts"
import { type Name, scenarios } from "../src/simulation/scenarios.ts"

const peak = (name: Name) => peakAfterStart(resultOf(name), scenarios[name])
const requests = (name: Name) => requestsOf(resultOf(name))

/** The token requests within the outage. */
const requestsInOutage = (name: Name) => {
  const { from, to } = outageOf(scenarios[name])
  return resultOf(name).perSecond.subarray(from / second, to / second).reduce((total, count) => total + count, 0)
}

// each scenario is run once, by the first test that needs it
describe("a simulated fleet of 100 000 clients", { timeout: 120_000 }, () => {
  it("sends at least 50 times as many token requests in a second if all clients renew at the same point", () => {
    assert.isAtLeast(peak("fixed"), 50 * peak("usual"))
  })

  it("sends three token requests per client in two days, and no caller gets a failure", () => {
    assert.strictEqual(requests("usual"), 300_000)
    assert.strictEqual(requests("fixed"), 300_000)
    assert.deepStrictEqual([resultOf("usual").affected, resultOf("fixed").affected], [0, 0])
  })

  it("sends three token requests in two days if its clients share a store", () => {
    assert.strictEqual(requests("shared"), 3)
    assert.strictEqual(peak("shared"), 1)
    assert.strictEqual(resultOf("shared").affected, 0)
  })

  it.each(["usualOutage", "fixedOutage", "sharedOutage"] as const)(
    "meets the outage with its renewals, and no caller gets a failure (%s)",
    (name) => {
      assert.isAtLeast(resultOf(name).failures, 100)
      assert.strictEqual(resultOf(name).failures, requestsInOutage(name))
      assert.strictEqual(resultOf(name).affected, 0)
    }
  )

  it("has all its renewals within the outage if all clients renew at the same point", () => {
    assert.isAtLeast(resultOf("fixedOutage").failures, scenarios.fixedOutage.clients)
    assert.isAtLeast(peak("fixedOutage"), 50 * peak("usualOutage"))
  })

  it("sends at most one token request per second in an outage if its clients share a store", () => {
    assert.strictEqual(peak("sharedOutage"), 1)
  })

  it("overloads an endpoint of 500 requests per second if it starts within a second, but not with a shared store", () => {
    assert.isAtLeast(resultOf("cold").affected, 0.9 * scenarios.cold.clients)
    assert.strictEqual(resultOf("coldSlow").affected, 0)
    assert.deepStrictEqual([requests("coldShared"), resultOf("coldShared").affected], [1, 0])
  })
})

describe("a run of the simulation", () => {
  const small = { ...scenarios.usualOutage, clients: 2_000 }
  const run = (seed: number) => Fleet.run(small, Draw.seeded(seed))

  it("has the same result for the same seed, and another result for another seed", () => {
    assert.deepStrictEqual(run(1), run(1))
    assert.notDeepEqual(run(1), run(2))
  })

  it("takes events in the order of their times", () => {
    const draw = Draw.seeded(1)
    const times = Array.from({ length: 1_000 }, () => Math.floor(1_000 * draw.next()))
    const queue = EventQueue.make<number>(900)
    const taken: Array<number> = []
    for (const at of times) queue.add(at, at)
    queue.takeAll((item, now) => {
      assert.strictEqual(item, now)
      taken.push(item)
      if (item % 2 === 0) queue.add(item + 1, item + 1)
    })
    const added = times.filter((at) => at % 2 === 0).map((at) => at + 1)
    assert.deepStrictEqual(taken, [...times, ...added].filter((at) => at < 900).toSorted((a, b) => a - b))
  })
})

describe("the plots of the simulation", () => {
  it.each(Object.entries(pictures))("are the plots in the documentation (%s)", (name, picture) => {
    const file = fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url))
    const howTo = "write it again with `npx -y pnpm@10.34.9 run write:plots`"
    assert.strictEqual(readFileSync(file, "utf8"), picture(), howTo)
  })
})
