import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { files, runbooks } from "@credit-data/tools/telemetry/files"
import { check, everFires, fires, type Series } from "../src/promtool.ts"

const rules = readFileSync(files.rules, "utf8")
const alerts = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, name = ""]) => name)

const labels =
  `credit_data_environment="sandbox",credit_data_client_id="acme",credit_data_version="V2",server_address="v2.example",job="service",instance="a"`
const series = (name: string, values: string, more = ""): Series => ({
  series: `credit_data_token_${name}{${labels}${more}}`,
  values
})
/** The token expires in this many minutes from the start. The test's clock starts at 0. */
const expiry = (minutes: number) => series("expiry_timestamp_seconds", `${minutes * 60}x180`)
const failing = (values: string, error = "ServerError") => series("failing", values, `,error_type="${error}"`)
const failures = (values: string, error = "ServerError") =>
  series("requests_total", values, `,error_type="${error}",outcome="failed",reason="Nothing"`)
const refusals = (values: string) => failures(values, "InvalidClient")
const usable = (values: string) => series("usable", values)
const calls = (status: number, values: string, group = "Data Access"): Series => ({
  series:
    `http_client_request_duration_seconds_count{${labels},credit_data_group="${group}",http_request_method="GET",` +
    `http_response_status_code="${status}"}`,
  values
})
const missing = (values: string, scope = "data-access:all") => series("scope_missing", values, `,scope="${scope}"`)
const available = (values: string) => series("store_available", values)
const faults = (values: string) => series("store_faults_total", values, ",error_type=\"Timeout\"")
const lost = (values: string) => series("events_lost_total", values)
const ofAnother = ({ series, values }: Series, instance: string): Series => ({
  series: series.replace(`instance="a"`, `instance="${instance}"`),
  values
})

/** Series with which an alert fires from one minute to another, or with which it remains silent for three hours. */
type Case = readonly [why: string, series: ReadonlyArray<Series>]

const cases: Record<string, {
  readonly fires: ReadonlyArray<readonly [...Case, minute: number]>
  readonly silent: ReadonlyArray<Case>
}> = {
  CreditDataTokenExpiresSoon: {
    fires: [["its last hour begins while the renewal fails", [
      expiry(90),
      failing("0x20 1x160"),
      failures("0x20 1+1x160")
    ], 40]],
    silent: [
      ["the renewal fails, but the token is valid for long", [
        expiry(600),
        failing("0x20 1x160"),
        failures("0x20 1+1x160")
      ]],
      ["the token expires soon, and its renewal has not failed", [expiry(90), failing("0x180"), failures("0x180")]],
      ["the renewal failed for two minutes", [expiry(90), failing("0x38 1 1 0x140"), failures("0x38 1 2x140")]],
      ["an idle program failed once", [expiry(90), failing("0x10 1x170"), failures("0x10 1x170")]]
    ]
  },
  CreditDataClientRefused: {
    fires: [
      ["the client is refused for the first time", [
        refusals("0x10 1x10"),
        failing("0x10 1x10", "InvalidClient")
      ], 12],
      ["the client was refused before the first scrape", [refusals("1x20"), failing("1x20", "InvalidClient")], 2],
      ["one of two processes was refused and ended", [refusals("0x20"), ofAnother(refusals("0x10 1 1 _x10"), "b")], 12]
    ],
    silent: [
      ["other token requests fail", [failures("0x10 1+1x60"), failing("0x10 1x60")]]
    ]
  },
  CreditDataCallsRejected: {
    fires: [
      ["every call gets 401", [calls(200, "0+60x10 600x60"), calls(401, "0x10 60+60x60")], 13],
      ["a tenth of the calls gets 401", [calls(200, "0+54x80"), calls(401, "0+6x80")], 4],
      ["every call of one of two processes gets 401", [
        calls(200, "0+60x60"),
        ofAnother(calls(200, "0+60x10 600x50"), "b"),
        ofAnother(calls(401, "0x10 60+60x50"), "b")
      ], 13],
      ["one group gets 401, and another one does not", [
        calls(200, "0+600x60", "Furnishment"),
        calls(401, "0+60x60")
      ], 4]
    ],
    silent: [
      ["one path of twenty gets 401", [calls(200, "0+57x180"), calls(401, "0+3x180")]],
      ["a revoked token was replaced", [calls(200, "0+60x180"), calls(401, "0x10 4x170")]],
      ["fewer than ten calls are made in two minutes", [calls(401, "0+4x180")]],
      ["calls get no response", [calls(200, "0x180")]]
    ]
  },
  CreditDataNoToken: {
    fires: [
      ["the token has expired and its renewal fails", [
        usable("1x30 0x100"),
        failing("0x20 1x110"),
        failures("0x20 1+1x100")
      ], 33],
      ["there was never a token", [usable("0x100"), failing("1x100"), failures("1+1x100")], 3]
    ],
    silent: [
      ["the renewal fails and the token is valid", [usable("1x180"), failing("0x20 1x160"), failures("0x20 1+1x160")]],
      ["the program is idle after its token has expired", [
        usable("1x30 0x150"),
        failing("0x10 1x170"),
        failures("0x10 1x170")
      ]],
      ["a token request fails and the next one succeeds", [
        usable("1x5 0 1x100"),
        failing("0x5 1 0x100"),
        failures("0x5 1x100")
      ]]
    ]
  },
  CreditDataScopeMissing: {
    fires: [["a scope is no longer granted", [missing("0x10 1x60"), missing("0x70", "furnishment:all")], 12]],
    silent: [
      ["all scopes are granted", [missing("0x180")]],
      ["a scope was missing for a moment", [missing("0x10 1 0x60")]]
    ]
  },
  CreditDataStoreUnavailable: {
    fires: [["the store cannot be used", [available("1x10 0x60"), faults("0x10 1+1x60")], 13]],
    silent: [
      ["one use of the store fails, and the next one succeeds", [available("1x10 0 1x60"), faults("0x10 1x60")]],
      ["the store works", [available("1x180"), faults("0x180")]],
      ["an idle program used the store hours ago", [available("0x180"), faults("1x180")]]
    ]
  },
  CreditDataEventsLost: {
    fires: [["events were lost", [lost("0x10 5x10")], 12]],
    silent: [["nothing was lost", [lost("0x180")]]]
  }
}

const longest = 180

/** Where a program runs: a tenant has its own attribute, which the rules do not name. */
interface Place {
  readonly tenant: string
  readonly namespace: string
}
const here: Place = { tenant: "a", namespace: "x" }
const elsewhere: ReadonlyArray<Place> = [{ tenant: "b", namespace: "x" }, { tenant: "a", namespace: "y" }]

const at = ({ series, values }: Series, { namespace, tenant }: Place): Series => ({
  series: series.replace(`job="service"`, `job="service",tenant="${tenant}",namespace="${namespace}"`),
  values
})
/** The values of a series where all is well. */
const healthy = ({ series }: Series): Series => ({
  series,
  values: /(usable|store_available)\{/.test(series) ? "1x180" : /expiry/.test(series) ? "60000x180" : "0x180"
})

/** Whether a rule fires for the tenant and the namespace in which something is wrong, and for no other. */
const namesPlace = Effect.fnUntraced(
  function*(alert: string, series: ReadonlyArray<Series>, minute: number) {
    const all = [
      ...series.map((each) => at(each, here)),
      ...elsewhere.flatMap((place) => series.map((each) => at(healthy(each), place)))
    ]
    const named = yield* fires(rules, alert, all, minute, `tenant="a",namespace="x"`)
    const others = yield* Effect.forEach(
      ["tenant!=\"a\"", "namespace!=\"x\""],
      (matchers) => everFires(rules, alert, all, longest, matchers)
    )
    return named && !others.includes(true)
  }
)

/** The alerts whose conditions must all be met by one program. */
const joined: ReadonlyArray<string> = ["CreditDataTokenExpiresSoon", "CreditDataNoToken", "CreditDataStoreUnavailable"]

/** Whether a rule is silent where one condition is met here, and the others elsewhere. */
const joinsPlaces = Effect.fnUntraced(function*(alert: string, series: ReadonlyArray<Series>) {
  const spread = elsewhere.flatMap((place) =>
    series.map((one) =>
      series.flatMap((each) =>
        each === one
          ? [at(each, here), at(healthy(each), place)]
          : [at(healthy(each), here), at(each, place)]
      )
    )
  )
  const fired = yield* Effect.forEach(spread, (all) => everFires(rules, alert, all, longest))
  return !fired.includes(true)
})

describe("the alert rules", () => {
  it("have tests, each", () => {
    assert.deepStrictEqual(Object.keys(cases), alerts)
  })

  it.effect("are valid", () =>
    Effect.gen(function*() {
      const { isValid, output } = yield* check("rules", rules)
      assert.isTrue(isValid, output)
      assert.include(output, `${alerts.length} rules found`)
    }))

  it("lead to a part of the documentation that explains what to do, under one address", () => {
    const urls = Array.from(rules.matchAll(/runbook_url: (\S+)$/gm), ([, url = ""]) => url)
    const operations = readFileSync(files.operations, "utf8")
    assert.deepStrictEqual(urls, alerts.map((alert) => `${runbooks}#${alert.toLowerCase()}`))
    for (const alert of alerts) {
      const part = operations.split(`\n### ${alert}\n`)[1]?.split("\n### ")[0] ?? ""
      for (const what of ["**Means.**", "**Confirm.**", "```", "**Do.**", "\n**Do not "]) {
        assert.include(part, what, alert)
      }
    }
  })

  it.effect("do not see the first increase of a series that did not exist, so all series exist from the start", () =>
    Effect.gen(function*() {
      const unborn = yield* fires(rules, "CreditDataClientRefused", [refusals("_x10 1x10")], 12)
      const born = yield* fires(rules, "CreditDataClientRefused", [refusals("0x10 1x10")], 12)
      assert.deepStrictEqual([unborn, born], [false, true])
    }))

  for (const [alert, { fires: firing, silent }] of Object.entries(cases)) {
    describe(alert, () => {
      for (const [why, series, minute] of firing) {
        it.effect(`fires when ${why}`, () =>
          Effect.gen(function*() {
            assert.isTrue(yield* fires(rules, alert, series, minute))
          }))
        it.effect(`names the tenant and the namespace when ${why}`, () =>
          Effect.gen(function*() {
            assert.isTrue(yield* namesPlace(alert, series, minute))
          }))
        if (joined.includes(alert)) {
          it.effect(`is silent unless one program meets its conditions, when ${why}`, () =>
            Effect.gen(function*() {
              assert.isTrue(yield* joinsPlaces(alert, series))
            }))
        }
        it.effect(`fires over OTLP, where each metric has its unit, when ${why}`, () =>
          Effect.gen(function*() {
            const withUnits = series.map(({ series, values }) => ({
              series: series.replace(/^(\w+)\{/, "$1{unit=\"$1\","),
              values
            }))
            assert.isTrue(yield* fires(rules, alert, withUnits, minute))
          }))
      }
      for (const [why, series] of silent) {
        it.effect(`is silent when ${why}`, () =>
          Effect.gen(function*() {
            assert.isFalse(yield* everFires(rules, alert, series, longest))
          }))
      }
    })
  }
})
