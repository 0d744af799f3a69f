import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { files } from "@credit-data/tools/telemetry/files"
import { type Series, tenants } from "../src/promtool.ts"

// One of the API's three servers rejects valid tokens for ten minutes. Both attempts of 10.5 % of the calls reach it.

const rules = readFileSync(files.rules, "utf8")

/** Seeded, so that each run of this test is the same. */
const randomOf = (seed: number) => () => {
  seed = seed + 0x6d2b79f5 | 0
  let next = Math.imul(seed ^ seed >>> 15, 1 | seed)
  next = next + Math.imul(next ^ next >>> 7, 61 | next) ^ next
  return ((next ^ next >>> 14) >>> 0) / 2 ** 32
}

/** How many of these calls have bad luck. */
const chosen = (random: () => number, calls: number, share: number) => {
  let count = 0
  for (let call = 0; call < calls; call++) if (random() < share) count++
  return count
}

const runs = 100
/** Minutes, with a value in 15 seconds. */
const [begins, ends, over] = [5, 15, 25]
const interval = "15s"

/** The calls of each run, which is a tenant. A share of them gets 401 while the incident lasts. */
const incident = (callsPerSecond: number, share: number): ReadonlyArray<Series> =>
  Array.from({ length: runs }, (_, run) => {
    const random = randomOf(run)
    const accepted: Array<number> = []
    const rejected: Array<number | "_"> = []
    let [good, bad] = [0, 0]
    for (let scrape = 0; scrape <= over * 4; scrape++) {
      const calls = scrape === 0 ? 0 : callsPerSecond * 15
      const unlucky = scrape > begins * 4 && scrape <= ends * 4 ? chosen(random, calls, share) : 0
      accepted.push(good += calls - unlucky)
      bad += unlucky
      rejected.push(bad === 0 ? "_" : bad)
    }
    const series = (status: number, values: ReadonlyArray<number | "_">): Series => ({
      series:
        `http_client_request_duration_seconds_count{credit_data_group="Data Access",tenant="${run}",http_response_status_code="${status}"}`,
      values: values.join(" ")
    })
    return [series(200, accepted), series(401, rejected)]
  }).flat()

describe("one of the API's three servers rejects valid tokens", () => {
  for (const callsPerSecond of [2, 20, 100]) {
    const inRuns = (share: number, atLeast: number, condition: string) =>
      tenants(rules, "CreditDataCallsRejected", incident(callsPerSecond, share), over, { condition, atLeast, interval })

    it.effect(`CreditDataCallsRejected fires once, until at most seven minutes after the end, in 95 of 100 runs with ${callsPerSecond} calls a second`, () =>
      Effect.gen(function*() {
        const atTheEnd = `firing offset ${over - ends}m == 1`
        const sevenMinutesLater = `firing offset ${over - ends - 7}m == 0`
        assert.isTrue(
          yield* inRuns(0.105, 95, `changes(firing[${over}m]) == 2 and ${atTheEnd} and ${sevenMinutesLater}`)
        )
      }))

    it.effect(`CreditDataCallsRejected is silent if one path of twenty returns 401, with ${callsPerSecond} calls a second`, () =>
      Effect.gen(function*() {
        assert.isTrue(yield* inRuns(0.05, runs, `max_over_time(firing[${over}m]) == 0`))
      }))
  }
})
