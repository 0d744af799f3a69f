import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Metric, Option, TestClock } from "effect"
import * as Fallback from "../src/internal/fallback.ts"
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
  reject,
  rejectAgain,
  replace,
  report,
  requests,
  served,
  shown,
  type Step,
  timeline
} from "./support/timeline.ts"
import { environment, setUp } from "./support/versions.ts"

const worksAgain = "INFO Auth V2 works again. Its tokens are used from now on."

describe("the fallback of a migration", () => {
  it.scoped("returns V1 tokens at once while Auth V2 refuses, and V2 tokens when it works", () =>
    timeline(fallback, [
      [0, authV2("refuses")],
      [0, get, "V1-1"],
      [0, reasons, ["Failed"]],
      [0, report(({ fallenBack }) => fallenBack.map(({ scope }) => scope)), [Option.none()]],
      [0, shown, "V1"],
      [0, log("Auth V1 are used"), [
        "WARN The token request to Auth V2 failed: InvalidClient. Tokens of Auth V1 are used until Auth V2 works."
      ]],
      [0, authV2("grants")],
      [0, get, "V1-1"],
      // the supply of Auth V2 remembers the refusal for 30 seconds
      [31, get, "V1-1"],
      [32, get, "V2-2"],
      [32, fallbacks, 3],
      [32, reasons, []],
      [32, served, [3, 1]],
      [32, log("Auth V2 works"), [worksAgain]]
    ]))

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
      [0, log("for furnishment:all until"), [
        "WARN The token of Auth V2 lacks furnishment:all. Tokens of Auth V1 are used for furnishment:all until Auth V2 works."
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
      ["hangs", "Slow", "Auth V2 returned no token within 2s."],
      ["grants too little", "MissingScopes", "The token of Auth V2 lacks furnishment:all."],
      ["refuses", "Failed", "The token request to Auth V2 failed: InvalidClient."]
    ] as const
  ) {
    it.scoped(`reports to the loggers of the migration why it began, and that it ended: ${behaviour}`, () =>
      timeline(fallback, [
        [0, authV2(behaviour)],
        [0, get],
        [2, caller(1), "V1-1"],
        [2, reasons, [tag]],
        [2, log("Auth V1 are used"), [`WARN ${text} Tokens of Auth V1 are used until Auth V2 works.`]],
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

  it.scoped("gets tokens of Auth V1 for five minutes, with the fallback", () =>
    Effect.gen(function*() {
      const count = Effect.map(Metric.value(Fallback.counterOf(environment.name, "Rejected")), ({ count }) => count)
      const before = yield* count
      yield* timeline(fallback, [
        [0, get, "V2-1"],
        [0, replace("V2-1"), "V2-2"],
        [0, rejectAgain("V2-2")],
        ...[0, 60, 120, 180, 240, 299].map((second): Step => [second, get, "V1-1"]),
        [299, requests, [1, 2]],
        [299, fallbacks, 6],
        [299, reasons, ["Rejected"]],
        [299, log("The API rejected a token of Auth V2 and"), [
          "WARN The API rejected a token of Auth V2 and its replacement. Tokens of Auth V1 are used for 5 minutes, " +
          "or until the plan changes."
        ]],
        [300, get, "V2-2"],
        [300, reasons, []],
        [300, log("works again"), [worksAgain]]
      ])
      assert.strictEqual(yield* count, before + 1)
    }))

  it.scoped("gets tokens of Auth V2 again when the plan changes, or when refresh obtains one", () =>
    timeline(fallback, [
      [0, get],
      [0, replace("V2-1")],
      [0, rejectAgain("V2-2")],
      [0, get, "V1-1"],
      [0, plan(v2)],
      [10, get, "V2-2"],
      [10, plan(fallback)],
      [70, replace("V2-2"), "V2-3"],
      [70, rejectAgain("V2-3")],
      [70, get, "V1-1"],
      [70, refresh, "V2-4"],
      [70, get, "V2-4"]
    ]))

  it.scoped("gets no rejected token of Auth V2 when the plan returns to it at once, with the fallback", () =>
    timeline(fallback, [
      [0, get],
      [0, replace("V2-1")],
      [0, rejectAgain("V2-2")],
      [0, plan(shadow)],
      [10, get, "V1-1"],
      [10, plan(fallback)],
      [20, get, "V1-1"],
      [20, get, "V1-1"],
      [20, reasons, ["Rejected"]]
    ]))

  it.scoped("gets tokens of Auth V1 only for the endpoint group whose calls it rejects, with the fallback", () =>
    timeline(fallback, [
      [0, getFor(scope), "V2-1"],
      [0, replace("V2-1", scope), "V2-2"],
      [0, rejectAgain("V2-2", scope)],
      ...[60, 120, 180, 240].flatMap((second): ReadonlyArray<Step> => [
        [second, getFor(scope), "V1-1"],
        [second, getFor("data-access:all"), "V2-2"]
      ]),
      [240, report(({ fallenBack }) => fallenBack.map(({ scope }) => scope)), [Option.some(scope)]],
      [240, log("The API rejected a token of Auth V2 and"), [
        "WARN The API rejected a token of Auth V2 and its replacement. " +
        "Tokens of Auth V1 are used for furnishment:all for 5 minutes, or until the plan changes."
      ]],
      [240, refresh, "V2-3"], // whichever client refreshes
      [240, getFor(scope), "V2-3"]
    ]))

  it.scoped("gets a token of Auth V1 when Auth V2 requests no replacement yet, with the fallback", () =>
    timeline(fallback, [
      [0, get],
      [0, replace("V2-1"), "V2-2"],
      [0, replace("V2-2"), "V1-1"],
      [0, reasons, ["Rejected"]]
    ]))

  it.scoped("gets a token of Auth V1 at once from the calls that have not been sent again yet", () =>
    timeline(fallback, [
      [0, get],
      [0, replace("V2-1")],
      [0, rejectAgain("V2-2")],
      [1, replace("V2-1"), "V1-1"]
    ]))

  it.scoped("is not an API that rejects a replacement which worked for a while", () =>
    timeline(fallback, [
      [0, get],
      [0, replace("V2-1")],
      [31, reject("V2-2")],
      [31, get, "V2-3"],
      [31, reasons, []]
    ]))

  it.scoped("gets tokens of Auth V2 without the fallback", () =>
    timeline(v2, [
      [0, get],
      [0, replace("V2-1")],
      [0, rejectAgain("V2-2")],
      [0, get, "V2-2"],
      [0, requests, [0, 2]]
    ]))
})
