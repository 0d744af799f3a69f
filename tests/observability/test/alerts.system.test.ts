import { TokenError } from "@credit-data/core"
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
const call = (values: string, more: string, group = "Data Access"): Series => ({
  series:
    `http_client_request_duration_seconds_count{${labels},credit_data_group="${group}",http_request_method="GET"${more}}`,
  values
})
/** Calls that got a response with this status. */
const calls = (status: number, values: string, group?: string): Series =>
  call(values, `,http_response_status_code="${status}"${status < 400 ? "" : `,error_type="${status}"`}`, group)
const reasons = TokenError.TransportReason.literals
/** Why a call is not sent. Its cause is not the API. */
const notSent = [
  "InvalidClient",
  "InvalidResponse",
  "ServerError",
  "TransportError",
  "InsufficientScope",
  "Encode",
  "InvalidUrl",
  "Defect"
]
/** Calls that got no response. */
const callsWithout = (errorType: string, values: string): Series => call(values, `,error_type="${errorType}"`)
/** Calls that have not ended. */
const active = (values: string, group = "Data Access"): Series => ({
  series: `http_client_active_requests{${labels},credit_data_group="${group}"}`,
  values
})
const missing = (values: string, scope = "data-access:all") => series("scope_missing", values, `,scope="${scope}"`)
const faults = (values: string) => series("store_faults_total", values, ",error_type=\"Timeout\"")
const ofAnother = ({ series, values }: Series, instance: string): Series => ({
  series: series.replace(`instance="a"`, `instance="${instance}"`),
  values
})

/** Series with which an alert fires at a minute, or with which it remains silent for three hours. */
type Case = readonly [why: string, series: ReadonlyArray<Series>]

const cases: Record<string, {
  readonly fires: ReadonlyArray<readonly [...Case, minute: number]>
  readonly silent: ReadonlyArray<Case>
  /** The alert fires at a minute, and no longer at a later one. */
  readonly ends: ReadonlyArray<readonly [...Case, minute: number, later: number]>
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
    ],
    ends: [
      [
        "a renewal succeeds",
        [
          series("expiry_timestamp_seconds", "5400x45 90000x60"),
          failing("0x20 1x25 0x60"),
          failures("0x20 1+1x25 26x60")
        ],
        45,
        47
      ]
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
    ],
    ends: [
      [
        "the client is accepted again",
        [
          refusals("0x10 1+1x20 21x40"),
          failing("0x10 1x20 0x40", "InvalidClient")
        ],
        30,
        38
      ],
      [
        "the refused process sends no more token requests",
        [
          refusals("0x10 1x60"),
          failing("0x10 1x60", "InvalidClient")
        ],
        12,
        20
      ]
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
      ["one path of twenty gets 401, and there is a call in 30 seconds", [
        calls(200, "0 1 3 5 7 9 11 13 15 17+2x10 38+2x70"),
        calls(401, "0 1x9 2x10 3x10 4x10")
      ]],
      ["fewer than ten calls are made in ten minutes", [calls(401, "0x9 8x60")]],
      ["calls get no response", [calls(200, "0x180"), callsWithout("Refused", "0+60x180")]]
    ],
    ends: [
      ["calls succeed again", [calls(200, "0+60x10 600x20 660+60x60"), calls(401, "0x10 60+60x20 1260x60")], 36, 38],
      [
        "the calls of a service with a call in 30 seconds succeed again",
        [
          calls(200, "0+2x10 20x20 22+2x60"),
          calls(401, "_x10 1+2x20 41x60")
        ],
        36,
        38
      ]
    ]
  },
  CreditDataCallsFailing: {
    fires: [
      ["every call gets 503", [calls(200, "0+60x10 600x60"), calls(503, "_x10 60+60x60")], 13],
      ["more than half of the calls get 403", [calls(200, "0+28x60"), calls(403, "0+32x60")], 4],
      ["every call gets 429", [calls(200, "0+60x10 600x60"), calls(429, "_x10 60+60x60")], 13],
      ["the calls fail in different ways", [
        calls(200, "0+28x60"),
        calls(403, "0+8x60"),
        calls(502, "0+8x60"),
        callsWithout("Reset", "0+8x60"),
        ofAnother(callsWithout("Timeout", "0+8x60"), "b")
      ], 4],
      [
        "there is a call in 30 seconds, and every one gets 503",
        [calls(200, "0+2x20 40x60"), calls(503, "_x20 1+2x60")],
        28
      ],
      ["one group fails, and another one does not", [calls(200, "0+600x60", "Furnishment"), calls(500, "0+60x60")], 4],
      ["the program interrupts most of its calls, and the others get 503", [
        calls(200, "0x60"),
        calls(503, "0+40x60"),
        callsWithout("Interrupted", "0+60x60")
      ], 4],
      // as many more than half as have the same reason
      ["more than half of the calls get no response, for each reason there is", [
        calls(200, `0+${10 * reasons.length - 1}x10`),
        ...reasons.map((reason) => callsWithout(reason, "0+10x10"))
      ], 4]
    ],
    silent: [
      ["half of the calls get 403", [calls(200, "0+30x180"), calls(403, "0+30x180")]],
      ["calls get other statuses", [calls(404, "0+30x180"), calls(401, "0+30x180")]],
      ["one call in three gets 429", [calls(200, "0+60x180"), calls(429, "0+30x180")]],
      ["the calls failed for half a minute", [calls(200, "0+60x10 630+60x80"), calls(503, "_x10 30x80")]],
      ["fewer than ten calls are made in ten minutes", [calls(503, "0x9 8x60")]],
      ["the program interrupts its calls", [calls(200, "0+30x180"), callsWithout("Interrupted", "0+60x180")]],
      ...notSent.map((
        tag
      ): Case => [`the calls are not sent: ${tag}`, [calls(200, "0+2x180"), callsWithout(tag, "0+60x180")]])
    ],
    ends: [
      ["calls succeed again", [calls(200, "0+60x10 600x20 660+60x60"), calls(503, "_x10 60+60x20 1260x60")], 36, 38],
      [
        "the calls of a service with a call in 30 seconds succeed again",
        [
          calls(200, "0+2x20 40x20 42+2x60"),
          calls(503, "_x20 1+2x20 41x60")
        ],
        46,
        48
      ],
      ["the service makes no more calls", [calls(503, "0+60x20 1200x60")], 26, 29]
    ]
  },
  CreditDataCallsUnanswered: {
    fires: [
      [
        "the program gives up every call",
        [calls(200, "0+60x10 600x60"), callsWithout("Interrupted", "0x10 60+60x60")],
        14
      ],
      ["one group hangs, and another one does not", [
        calls(200, "0+600x60", "Furnishment"),
        callsWithout("Interrupted", "0+60x60")
      ], 4],
      ["there is a call in 30 seconds, and the program gives up every one", [
        calls(200, "0+2x10 20x60"),
        callsWithout("Interrupted", "_x10 1+2x60")
      ], 18],
      ["calls without a time limit never end", [calls(200, "0+60x10 600x60"), active("1x10 1+60x60")], 14],
      ["no call ever ended", [active("2+5x60")], 4],
      ["the calls of one of two groups never end", [
        calls(200, "0+600x60", "Furnishment"),
        active("3x60", "Furnishment"),
        active("0+60x60")
      ], 4],
      ["the program restarts while its calls never end", [
        calls(200, "0+60x10 600x60"),
        active("1x10 1+30x10 0+5x60")
      ], 26]
    ],
    silent: [
      ["some calls get a response", [
        calls(200, "0+2x180"),
        callsWithout("Interrupted", "0+60x180"),
        active("0+60x180")
      ]],
      ["the calls fail otherwise", [callsWithout("Refused", "0+60x180"), callsWithout("Interrupted", "0+60x180")]],
      ["fewer than ten calls are given up in ten minutes", [callsWithout("Interrupted", "0 9x179")]],
      ["the last calls before a break were given up", [
        calls(200, "0+60x10 600x170"),
        callsWithout("Interrupted", "0x10 8 12 12x168")
      ]],
      ["many calls begin shortly before a scrape", [
        calls(200, "0x10 50x29 100x29 150x110"),
        active("0x9 50 0x28 50 0x28 50 0x110")
      ]],
      ["nine calls hang, and there are no others", [active("0+1x9 9x170")]]
    ],
    ends: [
      [
        "calls get a response again",
        [
          calls(200, "0x30 60+60x60"),
          callsWithout("Interrupted", "0+60x30 1800x60")
        ],
        34,
        37
      ],
      [
        "calls without a time limit get a response again",
        [calls(200, "0+60x10 600x20 660+60x60"), active("1x10 1+60x20 3x60")],
        34,
        37
      ],
      [
        "the program makes no more calls, and those without a response remain",
        [calls(200, "0+60x10 600x80"), active("1x10 1+60x10 601x70")],
        34,
        37
      ]
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
    ],
    ends: [
      [
        "a token request succeeds",
        [
          usable("1x30 0x20 1x60"),
          failing("0x20 1x30 0x60"),
          failures("0x20 1+1x30 31x60")
        ],
        50,
        52
      ]
    ]
  },
  CreditDataScopeMissing: {
    fires: [["a scope is no longer granted", [missing("0x10 1x60"), missing("0x70", "furnishment:all")], 12]],
    silent: [
      ["all scopes are granted", [missing("0x180")]],
      ["a scope was missing for a moment", [missing("0x10 1 0x60")]]
    ],
    ends: [["the scope is granted again", [missing("0x10 1x20 0x60")], 30, 32]]
  },
  CreditDataStoreUnavailable: {
    fires: [
      ["the store cannot be used", [faults("0x10 1+1x60")], 12],
      ["a program could not use the store before the first scrape", [faults("1x60")], 1],
      ["a program starts again, and cannot use the store before the first scrape", [
        ofAnother(faults("0x100"), "b"),
        faults("0x70 _x2 1x40")
      ], 74],
      ["one of two processes cannot use the store, once", [faults("0x70"), ofAnother(faults("0x10 1x60"), "b")], 12]
    ],
    silent: [
      ["the store works", [faults("0x180")]]
    ],
    ends: [["an hour has passed since a fault before the first scrape", [faults("1x180")], 58, 62], [
      "an hour has passed since the last fault",
      [faults("0x10 1+1x20 21x100")],
      88,
      92
    ]]
  }
}

const longest = 180

/** The values of a counter that increases every 30 seconds, with a value in 15 seconds. */
const inThirtySeconds = (first: number, values: number): string =>
  Array.from({ length: values }, (_, index) => first + Math.floor(index / 2)).join(" ")

/**
 * The critical alerts: within how many minutes they fire, with series of one value in 15 seconds. The first call fails, or the client is
 * refused, after ten minutes.
 */
const prompt: ReadonlyArray<
  readonly [alert: string, minutes: number, why: string, series: ReadonlyArray<Series>]
> = [
  ["CreditDataClientRefused", 2, "the first refusal", [refusals("0x40 1x40"), failing("0x40 1x40", "InvalidClient")]],
  ["CreditDataCallsRejected", 2, "the first 401", [calls(200, "0+15x40 600x40"), calls(401, "_x40 15+15x40")]],
  ["CreditDataCallsFailing", 2, "the first 503", [calls(200, "0+15x40 600x40"), calls(503, "_x40 15+15x40")]],
  ["CreditDataCallsFailing", 2, "the first 429", [calls(200, "0+15x40 600x40"), calls(429, "_x40 15+15x40")]],
  ["CreditDataCallsUnanswered", 3, "the first call that is given up", [
    calls(200, "0+15x40 600x40"),
    callsWithout("Interrupted", "_x40 15+15x40")
  ]],
  ["CreditDataCallsUnanswered", 3, "the first of ten calls in two minutes that never end", [
    calls(200, "0 1 2 4+1x37 41x60"),
    // a call in 12 seconds
    active("0x40 1 2 3 4 6+1x3 11+1x3 16+1x3")
  ]],
  ["CreditDataCallsUnanswered", 10, "the first of a call in 30 seconds that never ends", [
    calls(200, `${inThirtySeconds(0, 40)} 20x60`),
    active(`0x40 ${inThirtySeconds(1, 60)}`)
  ]],
  ["CreditDataCallsUnanswered", 10, "the first of a call in 30 seconds that is given up", [
    calls(200, `${inThirtySeconds(0, 40)} 20x60`),
    callsWithout("Interrupted", `_x40 ${inThirtySeconds(1, 60)}`)
  ]],
  ["CreditDataNoToken", 2, "the first call without a token", [
    usable("1x40 0x40"),
    failing("0x40 1x40"),
    failures("0x40 1+1x40")
  ]],
  ["CreditDataScopeMissing", 2, "the first token without the scope", [missing("0x40 1x40")]]
]

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
  values: /usable\{/.test(series) ? "1x180" : /expiry/.test(series) ? "60000x180" : "0x180"
})

/** Whether a rule fires for the tenant and the namespace in which something is wrong, and for no other. */
const namesPlace = Effect.fnUntraced(
  function*(alert: string, series: ReadonlyArray<Series>, minute: number) {
    const all = [
      ...series.map((each) => at(each, here)),
      ...elsewhere.flatMap((place) => series.map((each) => at(healthy(each), place)))
    ]
    const named = yield* fires(rules, alert, all, minute, { matchers: `tenant="a",namespace="x"` })
    const others = yield* Effect.forEach(
      ["tenant!=\"a\"", "namespace!=\"x\""],
      (matchers) => everFires(rules, alert, all, longest, matchers)
    )
    return named && !others.includes(true)
  }
)

/** The alerts whose conditions must all be met by one program. */
const joined: ReadonlyArray<string> = ["CreditDataTokenExpiresSoon", "CreditDataNoToken"]

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

  it("lead to a part of the documentation, under one address", () => {
    const urls = Array.from(rules.matchAll(/runbook_url: (\S+)$/gm), ([, url = ""]) => url)
    const operations = readFileSync(files.operations, "utf8")
    assert.deepStrictEqual(urls, alerts.map((alert) => `${runbooks}#${alert.toLowerCase()}`))
    for (const alert of alerts) assert.include(operations, `\n### ${alert}\n`)
  })

  it.effect("do not see the first increase of a series that did not exist, so all series exist from the start", () =>
    Effect.gen(function*() {
      const unborn = yield* fires(rules, "CreditDataClientRefused", [refusals("_x10 1x10")], 12)
      const born = yield* fires(rules, "CreditDataClientRefused", [refusals("0x10 1x10")], 12)
      assert.deepStrictEqual([unborn, born], [false, true])
    }))

  it("have a test of their first minutes, if they are critical", () => {
    const critical = rules.split("- alert: ").filter((text) => text.includes("severity: critical"))
    assert.deepStrictEqual(
      [...new Set(prompt.map(([alert]) => alert))],
      critical.map((text) => text.split("\n")[0] ?? "")
    )
  })

  for (const [alert, minutes, why, series] of prompt) {
    it.effect(`${alert} fires within ${minutes} minutes after ${why}`, () =>
      Effect.gen(function*() {
        const fired = yield* Effect.forEach([10, 10 + minutes], (minute) =>
          fires(rules, alert, series, minute, { interval: "15s" }))
        assert.deepStrictEqual(fired, [false, true])
      }))
  }

  for (const [alert, { ends, fires: firing, silent }] of Object.entries(cases)) {
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
      for (const [why, series, minute, later] of ends) {
        it.effect(`ends when ${why}`, () =>
          Effect.gen(function*() {
            const fired = yield* Effect.forEach([minute, later], (at) => fires(rules, alert, series, at))
            assert.deepStrictEqual(fired, [true, false])
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

describe("the example of a rule for slow calls in docs/telemetry.md", () => {
  const example = /```yaml\n(groups:\n[^]*?)```/.exec(readFileSync(files.telemetry, "utf8"))?.[1] ?? ""
  const within = (seconds: string, values: string): Series => ({
    series: `http_client_request_duration_seconds_bucket{${labels},credit_data_group="Data Access",le="${seconds}"}`,
    values
  })

  it.effect("fires if one call in ten takes longer than the limit", () =>
    Effect.gen(function*() {
      const slow = [within("1", "0+54x20"), within("2.5", "0+54x20"), within("5", "0+60x20"), within("+Inf", "0+60x20")]
      assert.isTrue(yield* fires(example, "MyServiceCallsSlow", slow, 10))
    }))

  it.effect("is silent if one call in fifty does", () =>
    Effect.gen(function*() {
      const fast = [within("1", "0+49x20"), within("2.5", "0+49x20"), within("5", "0+50x20"), within("+Inf", "0+50x20")]
      assert.isFalse(yield* everFires(example, "MyServiceCallsSlow", fast, 20))
    }))
})
