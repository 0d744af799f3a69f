import { assert, describe, it } from "@effect/vitest"
import * as Draw from "../src/simulation/draw.ts"
import * as Fleet from "../src/simulation/fleet.ts"
import * as RealSupplies from "../src/simulation/realSupplies.ts"
import { hour, requestsOf, type Result, second } from "../src/simulation/scenario.ts"
import { scenarios } from "../src/simulation/scenarios.ts"

/**
 * The most token requests within two hours, after the hours of the start. In two hours of renewals, 2 000 clients send about 1 100
 * requests, which chance changes by 3 %. In a second they send 0.15, so the peak per second would be chance only.
 */
const peak = ({ perSecond }: Result) => {
  const window = 2 * hour / second
  const sums = Array.from(
    { length: perSecond.length / window },
    (_, index) => perSecond.subarray(index * window, (index + 1) * window).reduce((total, count) => total + count, 0)
  )
  return Math.max(...sums.slice(1))
}

const assertClose = (actual: number, expected: number) => assert.approximately(actual, expected, expected / 10)

describe("2 000 real supplies under a virtual clock", () => {
  it("send as many token requests as simulated clients, within a tenth", () => {
    const fleet = { ...scenarios.usual, clients: 2_000 }
    const simulated = Fleet.run(fleet, Draw.seeded(1))
    const real = RealSupplies.run(fleet, Draw.seeded(2))
    assertClose(requestsOf(simulated), requestsOf(real))
    assertClose(peak(simulated), peak(real))
    assert.strictEqual(simulated.affected, real.affected)
  }, 120_000)
})

// Chance would hide differences between the simulation and the supply. Without it, the results are equal.
describe("real supplies for which each random draw is 0", { timeout: 60_000 }, () => {
  it.each(
    [
      ["without failures", { ...scenarios.usual, clients: 100 }],
      ["an outage", { ...scenarios.usualOutage, clients: 20 }],
      ["an outage in which the tokens expire", { ...scenarios.usualOutage, outage: 7 * hour, clients: 1 }],
      ["an endpoint that is too slow", { ...scenarios.cold, capacity: 0.5, clients: 100 }]
    ] as const
  )("send each token request in the same second as simulated clients (%s)", (_, fleet) => {
    const simulated = Fleet.run(fleet, Draw.constant(0))
    assert.isAbove(requestsOf(simulated), fleet.clients)
    assert.deepStrictEqual(simulated, RealSupplies.run(fleet, Draw.constant(0)))
  })
})
