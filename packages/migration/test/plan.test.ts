import { Plan } from "@credit-data/migration"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Fiber, Logger, Option, Scope, TestClock } from "effect"
import { logged } from "./support/logged.ts"
import { fallback, shadow, v1, v2 } from "./support/plans.ts"
import { setUp, textOf } from "./support/versions.ts"

describe("the plan of a migration", () => {
  it.scoped("is read at most every ten seconds, while it is used", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v1)
      assert.strictEqual(world.reads.count, 1)
      world.setPlan(v2)
      yield* TestClock.adjust("9999 millis")
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      assert.strictEqual(world.reads.count, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(textOf(yield* world.tokens.get), "V2-1")
      assert.strictEqual(world.reads.count, 2)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(world.reads.count, 2)
      assert.deepStrictEqual(yield* world.migration.plan, v2)
      assert.strictEqual(world.reads.count, 3)
    }))

  it.scoped("delays a caller by at most a second, and is used when it arrives", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v1, {
        read: (plan) =>
          Effect.suspend(() =>
            plan() === v1 ? Effect.succeed(plan()) : Effect.delay(Effect.succeed(plan()), "5 seconds")
          )
      })
      world.setPlan(v2)
      yield* TestClock.adjust("10 seconds")
      const fibers = [yield* Effect.fork(world.tokens.get), yield* Effect.fork(world.tokens.get)]
      yield* TestClock.adjust("999 millis")
      for (const fiber of fibers) assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust("1 millis")
      for (const fiber of fibers) assert.strictEqual(textOf(yield* Fiber.join(fiber)), "V1-1")
      assert.strictEqual(world.reads.count, 2)
      // no caller waits any longer for this reading
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual(textOf(yield* world.tokens.get), "V2-1")
    }))

  it.scoped("remains in effect when it cannot be read again, with one warning", () =>
    logged((lines) =>
      Effect.gen(function*() {
        let broken = false
        const world = yield* setUp(v1, {
          read: (plan) => Effect.suspend(() => broken ? Effect.fail("a canary") : Effect.succeed(plan()))
        })
        broken = true
        for (let round = 0; round < 3; round++) {
          yield* TestClock.adjust("10 seconds")
          assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
        }
        assert.strictEqual(world.reads.count, 4)
        assert.deepStrictEqual(lines.filter((line) => line.startsWith("WARN")), [
          "WARN The plan of the migration could not be read again: a defect. The previous plan remains in use: v1."
        ])
        broken = false
        world.setPlan(v2)
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(textOf(yield* world.tokens.get), "V2-1")
        assert.include(lines.join("\n"), "INFO The plan of the migration has changed from v1 to v2 without a fallback.")
      })
    ))

  it.scoped("names why it could not be read, and what it has changed to", () =>
    logged((lines) =>
      Effect.gen(function*() {
        let failure: unknown
        const world = yield* setUp(v1, {
          read: (plan) => Effect.suspend(() => failure === undefined ? Effect.succeed(plan()) : Effect.die(failure))
        })
        const failures = [
          [{ _tag: "NoFile" }, "NoFile"],
          [new Error("a canary"), "a defect"],
          [{ _tag: 42 }, "a defect"]
        ] as const
        for (const [cause, name] of failures) {
          failure = cause
          yield* TestClock.adjust("10 seconds")
          yield* world.tokens.get
          assert.include(
            lines,
            `WARN The plan of the migration could not be read again: ${name}. The previous plan remains in use: v1.`
          )
          failure = undefined
          yield* TestClock.adjust("10 seconds")
          yield* world.tokens.get
        }
        const changes = [
          [fallback, "from v1 to v2 with a fallback to v1"],
          [v2, "from v2 with a fallback to v1 to v2 without a fallback"],
          [{ stage: "v1", fallback: true }, "from v2 without a fallback to v1"]
        ] as const
        for (const [plan, change] of changes) {
          world.setPlan(plan)
          yield* TestClock.adjust("10 seconds")
          yield* world.tokens.get
          assert.strictEqual(lines.at(-1), `INFO The plan of the migration has changed ${change}.`)
        }
      })
    ))

  it.scoped("is logged at the start, with its fallback", () =>
    logged((lines) =>
      Effect.gen(function*() {
        for (const plan of [v1, shadow, v2, fallback]) yield* setUp(plan)
        assert.deepStrictEqual(lines, [
          "INFO The plan of the migration is v1.",
          "INFO The plan of the migration is shadow.",
          "INFO The plan of the migration is v2 without a fallback.",
          "INFO The plan of the migration is v2 with a fallback to v1."
        ])
      })
    ))

  it.scoped("names a wrong variable with the accepted values, and the whole plan that remains", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const variables = new Map([["CREDIT_DATA_AUTH", "v2"], ["CREDIT_DATA_AUTH_FALLBACK", "v1"]])
        const world = yield* setUp(v1, {
          read: () => Effect.suspend(() => Plan.read.pipe(Effect.withConfigProvider(ConfigProvider.fromMap(variables))))
        })
        variables.set("CREDIT_DATA_AUTH", "a canary").set("CREDIT_DATA_AUTH_FALLBACK", "a canary")
        yield* TestClock.adjust("10 seconds")
        yield* world.tokens.get
        assert.strictEqual(
          lines.at(-1),
          "WARN The plan of the migration could not be read again: CREDIT_DATA_AUTH: Expected v1 or shadow or v2; " +
            "CREDIT_DATA_AUTH_FALLBACK: Expected v1 or none. The previous plan remains in use: v2 with a fallback to v1."
        )
      })
    ))

  it.scoped("reports each different fault of a plan that cannot be read again, once", () =>
    logged((lines) =>
      Effect.gen(function*() {
        let next: Effect.Effect<Plan.Plan, unknown> = Effect.succeed(v1)
        const world = yield* setUp(v1, { read: () => Effect.suspend(() => next) })
        const faults = [
          Effect.fail({ _tag: "NoFile" }),
          Effect.succeed(JSON.parse(`{"stage":"v3"}`)),
          Effect.succeed(JSON.parse(`{"stage":"v2"}`))
        ]
        for (const fault of faults) {
          next = fault
          for (let round = 0; round < 3; round++) {
            yield* TestClock.adjust("10 seconds")
            yield* world.tokens.get
          }
        }
        assert.deepStrictEqual(
          lines.filter((line) => line.startsWith("WARN")).map((line) => line.split("again: ")[1]?.split(". ")[0]),
          ["NoFile", "plan.stage: Expected v1, shadow or v2", "plan.fallback: Expected true or false"]
        )
      })
    ))

  it.scoped("remains in effect when a reading never ends", () =>
    Effect.gen(function*() {
      let hangs = false
      const world = yield* setUp(v1, {
        read: (plan) => Effect.suspend(() => hangs ? Effect.never : Effect.succeed(plan()))
      })
      hangs = true
      yield* TestClock.adjust("10 seconds")
      const first = yield* Effect.fork(world.tokens.get)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(textOf(yield* Fiber.join(first)), "V1-1")
      hangs = false
      world.setPlan(v2)
      yield* TestClock.adjust("29 seconds")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(textOf(yield* world.tokens.get), "V2-1")
    }))

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

  it.scoped("delays all callers together by a second, and is read once, when a reading never ends", () =>
    Effect.gen(function*() {
      let hangs = false
      const world = yield* setUp(v1, {
        read: (plan) => Effect.suspend(() => hangs ? Effect.never : Effect.succeed(plan()))
      })
      hangs = true
      yield* TestClock.adjust("10 seconds")
      const early = yield* Effect.forEach([1, 2, 3], () => Effect.fork(world.tokens.get))
      yield* TestClock.adjust("600 millis")
      const late = yield* Effect.forEach([1, 2, 3], () => Effect.fork(world.tokens.get))
      yield* TestClock.adjust("399 millis")
      for (const fiber of [...early, ...late]) assert.isNull(fiber.unsafePoll())
      // the second counts from the start of the reading, so the late ones wait for less
      yield* TestClock.adjust("1 millis")
      for (const fiber of [...early, ...late]) assert.strictEqual(textOf(yield* Fiber.join(fiber)), "V1-1")
      // afterwards no caller waits
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      assert.strictEqual(world.reads.count, 2)
      yield* TestClock.adjust("28 seconds")
      assert.strictEqual(world.reads.count, 2)
      yield* TestClock.adjust("12 seconds")
      hangs = false
      world.setPlan(v2)
      assert.strictEqual(textOf(yield* world.tokens.get), "V2-1")
      assert.strictEqual(world.reads.count, 3)
    }))

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
        assert.strictEqual(lines.at(-1), "INFO The plan of the migration has changed from v1 to v2 without a fallback.")
      })
    ))

  it.scoped("is checked, because a program without types may return anything", () =>
    Effect.gen(function*() {
      const wrong = [
        [{ stage: "v3", fallback: false }, /plan.*stage.*Expected v1, shadow or v2/],
        [{ stage: "v1", fallback: "yes" }, /plan.*fallback.*Expected true or false/],
        [undefined, /plan.*stage.*Expected v1, shadow or v2/]
      ] as const
      for (const [plan, expected] of wrong) {
        const error = yield* Effect.flip(setUp(JSON.parse(JSON.stringify(plan ?? null))))
        assert.match(String(error), expected)
      }
    }))

  it.scoped("is read at the interval of the program", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v1, { planInterval: "1 minute" })
      yield* TestClock.adjust("59 seconds")
      yield* world.tokens.get
      assert.strictEqual(world.reads.count, 1)
      yield* TestClock.adjust("1 second")
      yield* world.tokens.get
      assert.strictEqual(world.reads.count, 2)
      assert.match(String(yield* Effect.flip(setUp(v1, { planInterval: Infinity }))), /planInterval.*Expected a finite/)
    }))
})
