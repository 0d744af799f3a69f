import { has } from "@credit-data/test-support/programs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { files } from "../src/files.ts"
import { check, fires, type Series } from "../src/promtool.ts"

const rules = readFileSync(files.rules, "utf8")
const alerts = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, name]) => name)

const labels = `credit_data_environment="sandbox",server_address="v2.example",job="service",instance="a"`
const series = (name: string, values: string, more = ""): Series => ({
  series: `credit_data_token_${name}{${labels}${more}}`,
  values
})
/** The token expires in this many minutes from the start. The test's clock starts at 0. */
const expiry = (minutes: number) => series("expiry_timestamp_seconds", `${minutes * 60}x120`)
const failing = (values: string) => series("failing", values, `,error_type="ServerError"`)
const refusals = (values: string) =>
  series("requests_total", values, `,error_type="InvalidClient",outcome="failed",reason="Nothing"`)

/** For each alert: series with which it fires at a time, series with which it stays silent, and a mistake in its rule. */
const cases: Record<string, {
  readonly fires: ReadonlyArray<readonly [why: string, series: ReadonlyArray<Series>, at: string]>
  readonly silent: ReadonlyArray<readonly [why: string, series: ReadonlyArray<Series>, at: string]>
  readonly mistake: readonly [why: string, from: string, to: string]
}> = {
  CreditDataTokenExpiresSoon: {
    fires: [["its last hour begins while the renewal fails", [expiry(90), failing("0x20 1x100")], "40m"]],
    silent: [
      ["the renewal fails, but the token is valid for long", [expiry(600), failing("0x20 1x100")], "40m"],
      ["the token expires soon, and its renewal has not failed", [expiry(90), failing("0x120")], "40m"],
      ["the renewal failed for two minutes", [expiry(90), failing("0x38 1 1 0x80")], "40m"]
    ],
    mistake: ["has no for", "\n        for: 5m", ""]
  },
  CreditDataClientRefused: {
    fires: [
      ["the client is refused for the first time", [refusals("0x10 1x10")], "12m"],
      ["the client is refused by one of two processes", [
        refusals("0x20"),
        { series: refusals("").series.replace(`instance="a"`, `instance="b"`), values: "0x10 1x10" }
      ], "12m"]
    ],
    silent: [
      ["the last refusal was long ago", [refusals("0x10 1x60")], "60m"],
      ["other token requests fail", [
        series("requests_total", "0x10 1x10", `,error_type="ServerError",outcome="failed",reason="Nothing"`)
      ], "12m"]
    ],
    mistake: ["counts other errors", "error_type=\"InvalidClient\"", "error_type=~\".+\""]
  },
  CreditDataTokensRejected: {
    fires: [["every replacement is rejected", [series("invalidations_total", "0+2x60")], "20m"]],
    silent: [
      ["one token is rejected", [series("invalidations_total", "0x10 1x60")], "20m"],
      ["six tokens were rejected within a short time", [series("invalidations_total", "0x10 3 6x60")], "14m"]
    ],
    mistake: ["has no for", "> 5\n        for: 5m", "> 5"]
  },
  CreditDataNoToken: {
    fires: [
      ["the token has expired and its renewal fails", [expiry(30), failing("0x20 1x100")], "33m"],
      ["there was never a token", [failing("1x100")], "3m"]
    ],
    silent: [
      ["the renewal fails and the token is valid", [expiry(90), failing("0x20 1x100")], "33m"],
      ["an idle program let its token expire", [expiry(30), failing("0x120")], "33m"],
      [
        "the first token request fails and a later one succeeds within a minute",
        [series("expiry_timestamp_seconds", "_ 36000x100"), failing("1 0x100")],
        "0m"
      ]
    ],
    mistake: ["has no for", "\n        for: 1m", ""]
  }
}

describe.skipIf(!has("promtool"))("the alert rules", () => {
  it("have tests, each", () => {
    assert.deepStrictEqual(Object.keys(cases), alerts)
  })

  it.effect("are valid", () =>
    Effect.gen(function*() {
      const { isValid, output } = yield* check("rules", rules)
      assert.isTrue(isValid, output)
      assert.include(output, `${alerts.length} rules found`)
    }))

  it.effect("do not see the first increase of a series that did not exist, so all series exist from the start", () =>
    Effect.gen(function*() {
      assert.isFalse(yield* fires(rules, "CreditDataClientRefused", [refusals("_x10 1x10")], "12m"))
    }))

  for (const [alert, { fires: firing, mistake: [why, from, to], silent }] of Object.entries(cases)) {
    describe(alert, () => {
      for (const [why, series, at] of firing) {
        it.effect(`fires when ${why}`, () =>
          Effect.gen(function*() {
            assert.isTrue(yield* fires(rules, alert, series, at))
          }))
      }
      for (const [why, series, at] of silent) {
        it.effect(`is silent when ${why}`, () =>
          Effect.gen(function*() {
            assert.isFalse(yield* fires(rules, alert, series, at))
          }))
      }
      it.effect(`is found to be wrong when it ${why}`, () =>
        Effect.gen(function*() {
          const start = rules.indexOf(`- alert: ${alert}`)
          const planted = rules.slice(0, start) + rules.slice(start).replace(from, to)
          assert.notStrictEqual(planted, rules)
          const results = yield* Effect.forEach(
            [...firing, ...silent],
            ([, series, at]) => fires(planted, alert, series, at)
          )
          assert.notDeepEqual(results, [...firing.map(() => true), ...silent.map(() => false)])
        }))
    })
  }
})
