import type { Plan } from "@credit-data/migration"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope, Stream, TestClock } from "effect"
import { logged } from "./support/logged.ts"
import { setUp, textOf } from "./support/versions.ts"

const v1: Plan.Plan = { stage: "v1", fallback: false }
const v2: Plan.Plan = { stage: "v2", fallback: false }
const fallback: Plan.Plan = { stage: "v2", fallback: true }

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
        const warnings = lines.filter((line) => line.startsWith("WARN The plan"))
        assert.lengthOf(warnings, 1)
        assert.notInclude(warnings.join(), "canary")
        broken = false
        world.setPlan(v2)
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(textOf(yield* world.tokens.get), "V2-1")
        assert.include(lines.join("\n"), "INFO The plan of the migration has changed from v1 to v2.")
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
          [v2, "from v2 with a fallback to v1 to v2"],
          [{ stage: "v1", fallback: true }, "from v2 to v1"]
        ] as const
        for (const [plan, change] of changes) {
          world.setPlan(plan)
          yield* TestClock.adjust("10 seconds")
          yield* world.tokens.get
          assert.strictEqual(lines.at(-1), `INFO The plan of the migration has changed ${change}.`)
        }
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

  it.scoped("is reported by an event when it changes", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v1)
      const events = yield* Effect.fork(Stream.runCollect(Stream.take(world.migration.events, 1)))
      yield* Effect.yieldNow()
      world.setPlan(fallback)
      yield* TestClock.adjust("10 seconds")
      yield* world.tokens.get
      const [event] = yield* Fiber.join(events)
      assert.isTrue(event?._tag === "PlanChanged" && event.from.stage === "v1" && event.to.fallback)
    }))

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
