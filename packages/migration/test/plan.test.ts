import { Plan } from "@credit-data/migration"
import { printed } from "@credit-data/test-support/printed"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Fiber, Logger, Option, Scope, TestClock } from "effect"
import * as Lines from "../src/internal/logLines.ts"
import { logged } from "./support/logged.ts"
import { shadow, v1, v2 } from "./support/plans.ts"
import { caller, get, log, plan, readingPlan, reads, type Step, timeline } from "./support/timeline.ts"
import { setUp } from "./support/versions.ts"

const remains = (reason: string, plan: Plan.Stage = "v1") => printed(Lines.planNotRead(reason, plan))

/** The changes of the plan in the log. */
const changes = log(printed(Lines.planChanged("v1", "v2")).split(" from ")[0] ?? "")

const noFallback =
  "Expected no fallback: V1 tokens never replace V2 tokens. Test V2 with the stage shadow and with compare, then use the " +
  "stage v2, and go back by the stage"

describe("the plan of a migration", () => {
  it.scoped("is read at most every ten seconds, while it is used", () =>
    timeline(v1, [
      [0, reads, 1],
      [0, plan(v2)],
      [9.999, get, "V1-1"],
      [9.999, reads, 1],
      [10, get, "V2-1"],
      [10, reads, 2],
      [3_600, reads, 2],
      [3_600, { what: "the plan", look: ({ migration }) => migration.plan }, v2],
      [3_600, reads, 3]
    ]))

  it.scoped("is read at the interval of the program", () =>
    Effect.gen(function*() {
      yield* timeline(v1, [
        [59, get],
        [59, reads, 1],
        [60, get],
        [60, reads, 2]
      ], { planInterval: "1 minute" })
      assert.match(String(yield* Effect.flip(setUp(v1, { planInterval: Infinity }))), /planInterval.*Expected a finite/)
    }))

  it.scoped("delays a caller by at most a second, and is used when it arrives", () =>
    timeline(v1, [
      [10, readingPlan(Effect.delay(Effect.succeed(v2), "5 seconds"))],
      [10, get, "waits"],
      [10, get, "waits"],
      [10.999, caller(1), "waits"],
      [10.999, caller(2), "waits"],
      [11, caller(1), "V1-1"],
      [11, caller(2), "V1-1"],
      [11, get, "V1-1"], // no caller waits any longer for this reading
      [11, reads, 2],
      [15, get, "V2-1"]
    ]))

  it.scoped("delays all callers together by a second, and is read once, when a reading never ends", () =>
    timeline(v1, [
      [10, readingPlan(Effect.never)],
      [10, get, "waits"],
      // the second counts from the start of the reading, so the late ones wait for less
      [10.6, get, "waits"],
      [10.999, caller(1), "waits"],
      [10.999, caller(2), "waits"],
      [11, caller(1), "V1-1"],
      [11, caller(2), "V1-1"],
      [11, get, "V1-1"],
      [39, reads, 2],
      [51, readingPlan(undefined)],
      [51, plan(v2)],
      [51, get, "V2-1"],
      [51, reads, 3]
    ]))

  it.effect("does not delay the end of the migration when a reading never ends", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      let hangs = false
      const world = yield* Scope.extend(
        setUp(v1, { read: (plan) => Effect.suspend(() => hangs ? Effect.never : Effect.succeed(plan())) }),
        scope
      )
      hangs = true
      yield* TestClock.adjust("10 seconds")
      yield* Effect.fork(Effect.uninterruptible(Effect.ignore(world.tokens.get)))
      yield* TestClock.adjust("1 second")
      const end = yield* Effect.fork(Scope.close(scope, Exit.void))
      // longer than the reading may take, and no time passes
      yield* Fiber.join(end)
      assert.strictEqual(world.reads.count, 2)
    }))

  it.scoped("remains in effect when it cannot be read again, with one warning", () =>
    timeline(v1, [
      [0, readingPlan(Effect.fail("a canary"))],
      ...[10, 20, 30].map((second): Step => [second, get, "V1-1"]),
      [30, reads, 4],
      [30, log("WARN"), [remains("an unknown failure")]],
      [30, readingPlan(undefined)],
      [30, plan(v2)],
      [40, get, "V2-1"],
      [40, changes, [printed(Lines.planChanged("v1", "v2"))]]
    ]))

  it.scoped("reports each different fault of a plan that cannot be read again, once", () => {
    const faults: ReadonlyArray<readonly [Effect.Effect<Plan.Plan, unknown>, string]> = [
      [Effect.fail({ _tag: "NoFile" }), "NoFile"],
      [Effect.die(new Error("a canary")), "Error"],
      [Effect.sync(() => JSON.parse(`{"stage":"v3"}`)), "plan.stage: Expected v1, shadow or v2"],
      [Effect.sync(() => JSON.parse(`{"stage":"v2","fallback":true}`)), `plan.fallback: ${noFallback}`]
    ]
    return timeline(
      v1,
      faults.flatMap(([fault, reason], index): ReadonlyArray<Step> => [
        [index * 30, readingPlan(fault)],
        [index * 30 + 10, get],
        [index * 30 + 20, get],
        [index * 30 + 29, get, "V1-1"],
        [index * 30 + 29, log("WARN"), [remains(reason)]]
      ])
    )
  })

  it.scoped("is called an unknown failure when its error has no name", () =>
    timeline(v1, [
      [0, readingPlan(Effect.die({ _tag: 42 }))],
      [10, get],
      [10, log("WARN"), [remains("an unknown failure")]]
    ]))

  it.scoped("names what it has changed to", () =>
    timeline(
      v1,
      ([
        [v1, shadow],
        [shadow, v2],
        [v2, v1]
      ] as const).flatMap(([before, next], index): ReadonlyArray<Step> => [
        [index * 10, plan(next)],
        [index * 10 + 10, get],
        [index * 10 + 10, changes, [printed(Lines.planChanged(before.stage, next.stage))]]
      ])
    ))

  it.scoped("is logged at the start", () =>
    logged((lines) =>
      Effect.gen(function*() {
        for (const plan of [v1, shadow, v2]) yield* setUp(plan)
        assert.deepStrictEqual(lines, [v1, shadow, v2].map(({ stage }) => printed(Lines.planRead(stage))))
      })
    ))

  it.scoped("names a wrong variable with the accepted values, and the whole plan that remains", () => {
    const wrong = new Map([["CREDIT_DATA_AUTH", "a canary"], ["CREDIT_DATA_AUTH_FALLBACK", "a canary"]])
    return timeline(shadow, [
      [0, readingPlan(Plan.read.pipe(Effect.withConfigProvider(ConfigProvider.fromMap(wrong))))],
      [10, get],
      [10, log("WARN"), [
        remains(
          `CREDIT_DATA_AUTH: Expected v1 or shadow or v2; CREDIT_DATA_AUTH_FALLBACK: ${noFallback}`,
          "shadow"
        )
      ]]
    ])
  })

  it.scoped("is read in no caller's trace, and its lines go to the loggers of the migration", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const spans: Array<boolean> = []
        const world = yield* setUp(v1, {
          read: (plan) =>
            Effect.map(Effect.option(Effect.currentSpan), (span) => {
              spans.push(Option.isSome(span))
              return plan()
            })
        })
        world.setPlan(v2)
        yield* TestClock.adjust("10 seconds")
        yield* Effect.provide(
          Effect.withSpan(world.tokens.get, "call"),
          Logger.remove(Logger.defaultLogger)
        )
        assert.deepStrictEqual(spans, [false, false])
        assert.strictEqual(lines.at(-1), printed(Lines.planChanged("v1", "v2")))
      })
    ))

  it.scoped("is checked, because a program without types may return anything", () =>
    Effect.gen(function*() {
      const wrong = [
        [{ stage: "v3" }, /plan.*stage.*Expected v1, shadow or v2/],
        [{ stage: "v2", fallback: true }, /plan.*fallback.*Expected no fallback.*shadow.*compare/],
        [undefined, /plan.*stage.*Expected v1, shadow or v2/]
      ] as const
      for (const [plan, expected] of wrong) {
        const error = yield* Effect.flip(setUp(JSON.parse(JSON.stringify(plan ?? null))))
        assert.match(String(error), expected)
      }
    }))
})
