import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { files } from "@credit-data/tools/telemetry/files"
import { type Series, tenants } from "../src/promtool.ts"

// Incidents of ten minutes whose share of calls is so near an alert's threshold that chance decides on which side two minutes are.

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

/** The calls of each run, which is a tenant. A share of them has other labels while the incident lasts. */
const incident = (
  callsPerSecond: number,
  share: number,
  [usual, other]: readonly [usual: string, other: string]
): ReadonlyArray<Series> =>
  Array.from({ length: runs }, (_, run) => {
    const random = randomOf(run)
    const before: Array<number> = []
    const meanwhile: Array<number | "_"> = []
    let [good, bad] = [0, 0]
    for (let scrape = 0; scrape <= over * 4; scrape++) {
      const calls = scrape === 0 ? 0 : callsPerSecond * 15
      const unlucky = scrape > begins * 4 && scrape <= ends * 4 ? chosen(random, calls, share) : 0
      before.push(good += calls - unlucky)
      bad += unlucky
      meanwhile.push(bad === 0 ? "_" : bad)
    }
    const series = (labels: string, values: ReadonlyArray<number | "_">): Series => ({
      series: `http_client_request_duration_seconds_count{credit_data_group="Data Access",tenant="${run}",${labels}}`,
      values: values.join(" ")
    })
    return [series(usual, before), series(other, meanwhile)]
  }).flat()

const ok = `http_response_status_code="200"`
const withStatus = (status: number) => `http_response_status_code="${status}",error_type="${status}"`

const begunOnce = `changes(firing[${over}m]) == 2`
const stillFiringAtTheEnd = `firing offset ${over - ends}m == 1`
const endedAfter = (minutes: number) => `firing offset ${over - ends - minutes}m == 0`

for (const callsPerSecond of [2, 20, 100]) {
  const inRuns = (
    alert: string,
    share: number,
    labels: readonly [usual: string, other: string],
    atLeast: number,
    conditions: ReadonlyArray<string>
  ) =>
    tenants(rules, alert, incident(callsPerSecond, share, labels), over, {
      condition: conditions.join(" and "),
      atLeast,
      interval
    })

  describe(`with ${callsPerSecond} calls a second, in 95 of 100 runs`, () => {
    // both attempts of 10.5 % of the calls reach this server
    it.effect("CreditDataCallsRejected fires once, until at most seven minutes after the end, if one of the API's three servers rejects valid tokens", () =>
      Effect.gen(function*() {
        assert.isTrue(
          yield* inRuns("CreditDataCallsRejected", 0.105, [ok, withStatus(401)], 95, [
            begunOnce,
            stillFiringAtTheEnd,
            endedAfter(7)
          ])
        )
      }))

    it.effect("CreditDataCallsFailing fires once, until at most seven minutes after the end, if 51 % of the calls get 503", () =>
      Effect.gen(function*() {
        assert.isTrue(
          yield* inRuns("CreditDataCallsFailing", 0.51, [ok, withStatus(503)], 95, [
            begunOnce,
            stillFiringAtTheEnd,
            endedAfter(7)
          ])
        )
      }))

    it.effect("CreditDataCallsFailing does not begin twice if one of the API's two servers returns 503", () =>
      Effect.gen(function*() {
        assert.isTrue(
          yield* inRuns("CreditDataCallsFailing", 0.5, [ok, withStatus(503)], 95, [
            `changes(firing[${over}m]) <= 2`,
            endedAfter(7)
          ])
        )
      }))

    it.effect("CreditDataCallsUnanswered does not begin twice if one call in two minutes gets a response", () =>
      Effect.gen(function*() {
        assert.isTrue(
          yield* inRuns(
            "CreditDataCallsUnanswered",
            1 - 1 / (callsPerSecond * 120),
            [ok, `error_type="Interrupted"`],
            95,
            [
              `changes(firing[${over}m]) <= 2`,
              endedAfter(7)
            ]
          )
        )
      }))
  })

  it.effect(`CreditDataCallsRejected is silent if one path of twenty returns 401, with ${callsPerSecond} calls a second`, () =>
    Effect.gen(function*() {
      assert.isTrue(
        yield* inRuns("CreditDataCallsRejected", 0.05, [ok, withStatus(401)], runs, [
          `max_over_time(firing[${over}m]) == 0`
        ])
      )
    }))
}
