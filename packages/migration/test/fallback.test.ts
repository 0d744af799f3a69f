import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Metric, MetricLabel, Option, TestClock } from "effect"
import { logged } from "./support/logged.ts"
import { fallback, outcomeOf, shadow, v2 } from "./support/plans.ts"
import {
  authV1,
  authV2,
  caller,
  fallbacks,
  get,
  getFor,
  log,
  plan,
  reasons,
  refresh,
  replace,
  report,
  requests,
  served,
  shown,
  type Step,
  timeline
} from "./support/timeline.ts"
import { setUp } from "./support/versions.ts"

/** How many fallbacks were counted for this reason. */
const counted = (reason: string) =>
  Effect.map(
    Metric.value(Metric.taggedWithLabels(
      Metric.counter("credit_data.migration.fallbacks", {
        description: "How often the fallback to V1 tokens began, by reason.",
        incremental: true
      }),
      Object.entries({ "credit_data.environment": "test", reason }).map(([key, value]) => MetricLabel.make(key, value))
    )),
    ({ count }) => count
  )

const worksAgain = "INFO Auth V2 works again (test). Its tokens are used from now on."

describe("the fallback of a migration", () => {
  it.scoped("returns V1 tokens at once while Auth V2 refuses, and V2 tokens when it works", () =>
    timeline(fallback, [
      [0, authV2("refuses")],
      [0, get, "V1-1"],
      [0, reasons, ["Failed"]],
      [0, report(({ fallenBack }) => fallenBack.map(({ scope }) => scope)), [Option.none()]],
      [0, shown, "V1"],
      [0, log("Using V1 tokens"), [
        "WARN Using V1 tokens (test) until Auth V2 works, because the token request to V2 failed: InvalidClient 401."
      ]],
      [0, authV2("grants")],
      [0, get, "V1-1"],
      // the supply of Auth V2 remembers the refusal for 30 seconds
      [29, get, "V1-1"],
      [29, report(({ fallenBack }) => fallenBack.map(({ since }) => DateTime.toEpochMillis(since))), [0]],
      [29, log("Using V1 tokens"), []],
      [31, get, "V1-1"],
      [32, get, "V2-2"],
      [32, fallbacks, 4],
      [32, reasons, []],
      [32, served, [4, 1]],
      [32, log("Auth V2 works"), [worksAgain]]
    ]))

  it.scoped("is counted by its reason", () =>
    Effect.gen(function*() {
      const before = [yield* counted("Failed"), yield* counted("Slow")]
      yield* timeline(fallback, [[0, authV2("refuses")], [0, get, "V1-1"], [0, get, "V1-1"]])
      assert.deepStrictEqual([yield* counted("Failed"), yield* counted("Slow")], [Number(before[0]) + 1, before[1]])
    }))

  it.scoped("waits for Auth V2 for two seconds, once", () =>
    timeline(fallback, [
      [0, authV2("hangs")],
      [0, get, "waits"],
      [1.999, caller(1), "waits"],
      [2, caller(1), "V1-1"],
      [2, get, "V1-1"],
      [2, reasons, ["Slow"]]
    ]))

  it.scoped("returns a V1 token when the V2 token lacks a scope, and a V2 token to the groups whose scope it covers", () =>
    timeline(fallback, [
      [0, authV2("grants too little")],
      [0, get, "V1-1"],
      [0, report(({ fallenBack }) => fallenBack.map(({ reason }) => reason)), [
        { _tag: "MissingScopes", scopes: ["furnishment:all"] }
      ]],
      [0, getFor("data-access:all"), "V2-1"],
      [0, getFor("furnishment:all"), "V1-1"],
      [0, log("for furnishment:all (test) until"), [
        "WARN Using V1 tokens for furnishment:all (test) until Auth V2 works, because the V2 token lacks furnishment:all."
      ]]
    ]))

  it.scoped("ends within minutes after a missing scope was granted, because Auth V2 is asked for it again", () =>
    timeline(fallback, [
      [0, authV2("grants too little")],
      [0, get, "V1-1"],
      [60, authV2("grants")],
      ...[60, 120, 180, 240, 300, 360].map((second): Step => [second, get]),
      [420, get, "V2-2"],
      [420, reasons, []]
    ]))

  for (
    const [behaviour, tag, text] of [
      ["hangs", "Slow", "V2 returned no token within 2s"],
      ["grants too little", "MissingScopes", "the V2 token lacks furnishment:all"],
      ["refuses", "Failed", "the token request to V2 failed: InvalidClient 401"]
    ] as const
  ) {
    it.scoped(`reports to the loggers of the migration why it began, and that it ended: ${behaviour}`, () =>
      timeline(fallback, [
        [0, authV2(behaviour)],
        [0, get],
        [2, caller(1), "V1-1"],
        [2, reasons, [tag]],
        [2, log("Using V1 tokens"), [`WARN Using V1 tokens (test) until Auth V2 works, because ${text}.`]],
        [2, authV2("grants")],
        ...[7_200, 7_230, 7_260].map((second): Step => [second, get]),
        [7_290, reasons, []],
        [7_290, log("works again"), [worksAgain]]
      ]))
  }

  it.scoped("shows the version that has a usable token", () =>
    timeline(fallback, [
      [0, shown, "V2"], // no version has a token yet
      [0, get],
      [0, shown, "V2"],
      [0, authV2("refuses")],
      [7_200, get],
      [7_200, shown, "V1"],
      [7_200, authV1("refuses")],
      [14_400, get],
      [14_400, shown, "V2"]
    ]))

  it.scoped("is the failure of Auth V2 when neither version issues a token", () =>
    timeline(fallback, [
      [0, authV1("refuses")],
      [0, authV2("refuses")],
      [0, get, "V2 InvalidClient"],
      [0, shown, "V2"]
    ]))

  it.scoped("returns a V2 token that lacks a scope when Auth V1 issues none", () =>
    timeline(fallback, [
      [0, authV1("refuses")],
      [0, authV2("grants too little")],
      [0, get, "V2-1"]
    ]))

  it.scoped("ends with its plan", () =>
    timeline(fallback, [
      [0, authV2("refuses")],
      [0, get],
      [0, reasons, ["Failed"]],
      [0, plan(shadow)],
      [10, get],
      [10, reasons, []],
      [10, plan(fallback)],
      [10, authV2("grants")],
      [40, get, "V2-2"]
    ]))

  it.scoped("makes the failures of Auth V2 warnings, as the shadow does, until calls depend on it", () =>
    logged((lines) =>
      Effect.gen(function*() {
        for (const behaviour of ["refuses", "is busy"] as const) {
          for (const plan of [shadow, fallback]) {
            const world = yield* setUp(plan)
            world.v2.behaviour = behaviour
            const minute = Effect.gen(function*() {
              const call = yield* Effect.fork(Effect.exit(world.tokens.get))
              for (let second = 0; second < 60; second += 5) yield* TestClock.adjust("5 seconds")
              return outcomeOf(yield* Fiber.join(call))
            })
            const from = lines.length
            for (let call = 0; call < 3; call++) assert.strictEqual(yield* minute, "V1-1")
            const about = lines.slice(from).filter((line) => line.includes("https://v2.example/token"))
            assert.lengthOf(about, 1)
            assert.match(about.join(), /^WARN There is no valid access token from .*, and the fallback is used\./)
            // now calls fail
            world.setPlan(v2)
            yield* minute
            assert.notStrictEqual(yield* minute, "V1-1")
            assert.lengthOf(
              lines.filter((line) => line.startsWith("ERROR There is no valid access token, and calls fail.")),
              1
            )
            lines.splice(0)
          }
        }
      })
    ))

  it.scoped("is off by default", () =>
    timeline(v2, [
      [0, authV2("refuses")],
      [0, get, "V2 InvalidClient"],
      [0, fallbacks, 0]
    ]))
})

describe("an API that rejects the tokens of Auth V2", () => {
  const scope = "furnishment:all"
  const needed = (group = "") =>
    `WARN The API rejected V2 tokens for calls${group} (test), so those calls were sent again with a V1 token. ` +
    "Each of them is sent up to three times. Run credit-data compare with their paths before you turn the fallback off."

  it.scoped("gets V2 tokens at most twice for a call, and then a V1 token, with the fallback", () =>
    timeline(fallback, [
      [0, get, "V2-1"],
      [0, replace("V2-1"), "V2-2"],
      [0, refresh, "V2-3"],
      [0, replace("V2-2", { after: ["V2-1"] }), "V1-1"],
      [0, fallbacks, 1],
      [0, requests, [1, 3]]
    ]))

  it.scoped("moves no endpoint group: the next call begins with a V2 token, and the report has no reason", () =>
    timeline(fallback, [
      [0, getFor(scope), "V2-1"],
      [0, replace("V2-1", { scope }), "V2-2"],
      [0.5, replace("V2-2", { after: ["V2-1"], scope }), "V1-1"],
      [1, getFor(scope), "V2-1"], // its rejection is longer ago
      [1, getFor("data-access:all"), "V2-1"],
      [1, reasons, []],
      [1, shown, "V2"]
    ]))

  it.scoped("has one line in the log for a group, and another one when it happens again after five quiet minutes", () =>
    timeline(fallback, [
      [0, getFor(scope)],
      [0, replace("V2-1", { scope })],
      ...[0, 100, 200, 300].map((second): Step => [second, replace("V2-2", { after: ["V2-1"], scope })]),
      [300, log("V1 token"), [needed(" for furnishment:all")]],
      [599, replace("V2-2", { after: ["V2-1"], scope })],
      [599, log("V1 token"), []],
      [899, replace("V2-2", { after: ["V2-1"], scope })],
      [899, replace("V2-2", { after: ["V2-1"] })],
      [899, log("V1 token"), [needed(" for furnishment:all"), needed()]]
    ]))

  it.scoped("gets a V1 token for a call if Auth V2 has no other token, fails, or takes longer than two seconds", () =>
    timeline(fallback, [
      [0, get],
      [0, authV2("refuses")],
      [0, replace("V2-1"), "V1-1"],
      [0, get, "V2-1"], // its token is still used, and no group falls back
      [0, reasons, []],
      [0, replace("V2-1"), "V1-1"], // no token is requested now
      [60, authV2("hangs")],
      [60, replace("V2-1"), "waits"],
      [62, caller(0), "V1-1"],
      [62, reasons, []]
    ]))

  it.scoped("gets a V1 token for a call if Auth V2 has no other token and may not request one", () =>
    timeline(fallback, [
      [0, get, "V2-1"],
      [0, replace("V2-1"), "V2-2"],
      [0, refresh, "V2-3"],
      [0, replace("V2-3"), "V1-1"],
      [0, requests, [1, 3]]
    ]))

  it.scoped("gets another V1 token after a V1 token", () =>
    timeline(fallback, [
      [0, get],
      [0, authV2("refuses")],
      [0, replace("V2-1"), "V1-1"],
      [0, replace("V1-1", { after: ["V2-1"] }), "V1-2"]
    ]))

  it.scoped("gets V2 tokens without the fallback", () =>
    timeline(v2, [
      [0, get],
      [0, replace("V2-1"), "V2-2"],
      [0, replace("V2-2", { after: ["V2-1"] }), "V2-2"],
      [0, requests, [0, 2]]
    ]))

  for (const stage of ["v1", "shadow"] as const) {
    it.scoped(`gets no V2 token in the stage ${stage}, even with the fallback left on`, () =>
      timeline({ stage, fallback: true }, [
        [0, get, "V1-1"],
        [0, replace("V1-1"), "V1-2"],
        [0, authV1("refuses")],
        [3_600, get, "V1 InvalidClient"],
        [3_600, refresh, "V1 InvalidClient"],
        [3_600, shown, "V1"],
        [3_600, fallbacks, 0]
      ]))

    it.scoped(`gets a V1 token for a call that began with a V2 token before the stage ${stage}`, () =>
      timeline(fallback, [
        [0, get, "V2-1"],
        [0, plan({ stage, fallback: true })],
        [10, get, "V1-1"],
        [10, replace("V2-1"), "V1-1"]
      ]))
  }

  it.scoped("gets a V2 token for a call that began with a V1 token before the stage v2", () =>
    timeline(shadow, [
      [0, get, "V1-1"],
      [0, plan(v2)],
      [10, get, "V2-1"],
      [10, replace("V1-1"), "V2-1"]
    ]))
})
