import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import { sharedLayer } from "../src/internal/sharedLayer.ts"

class Built extends Context.Tag("Built")<Built, { readonly build: number }>() {}
class Source extends Context.Tag("Source")<Source, unknown>() {}

/** A layer that counts how often it is built, and what has ended. */
const counted = (build: Effect.Effect<unknown, string> = Effect.void) => {
  const counts = { builds: 0, ended: new Array<number>() }
  const layer = sharedLayer(() =>
    Layer.scoped(
      Built,
      Effect.suspend(() => {
        const built = { build: ++counts.builds }
        return Effect.zipRight(
          build,
          Effect.acquireRelease(Effect.succeed(built), () => Effect.sync(() => counts.ended.push(built.build)))
        )
      })
    ), { services: [Source] })
  /** What is built for a use with this source. */
  const use = (source: unknown = "the same") =>
    Effect.map(Effect.provideService(Layer.build(layer), Source, source), Context.get(Built))
  /** A use that ends before the test. */
  const short = Effect.gen(function*() {
    const scope = yield* Scope.make()
    return { built: yield* Scope.extend(use(), scope), end: Scope.close(scope, Exit.void) }
  })
  return { counts, layer, short, use }
}

/** A build that takes a second. */
const slow = Effect.sleep("1 second")

describe("a shared layer", () => {
  it.scoped("is built once for each source, compared by identity", () =>
    Effect.gen(function*() {
      const { use } = counted()
      const sources = [
        {},
        {},
        () => "a",
        () => "a",
        undefined,
        null,
        "null",
        "",
        0,
        Number.NaN,
        ["a"],
        ["a"],
        Symbol("a")
      ]
      const first = yield* Effect.forEach(sources, use)
      assert.strictEqual(new Set(first).size, sources.length)
      assert.deepStrictEqual(yield* Effect.forEach(sources, use), first)
    }))

  it.scoped("is built again for another ConfigProvider, although it has the same variables", () =>
    Effect.gen(function*() {
      const { use } = counted()
      const built = yield* Effect.forEach(
        [1, 2],
        () => use().pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["A", "a"]]))))
      )
      assert.deepStrictEqual(built, [{ build: 1 }, { build: 2 }])
    }))

  it.scoped("is built for a use that waits, although the use that began the build is interrupted", () =>
    Effect.gen(function*() {
      const { counts, use } = counted(slow)
      const [leader, follower] = [yield* Effect.fork(use()), yield* Effect.fork(use())]
      yield* TestClock.adjust("500 millis")
      yield* Fiber.interrupt(leader)
      yield* TestClock.adjust("1 second")
      const exit = follower.unsafePoll()
      assert.isTrue(exit !== null && Exit.isSuccess(exit), String(exit))
      assert.strictEqual(counts.builds, 1)
    }))

  it.effect("remains until its last use has ended, even if the use that built it ended first", () =>
    Effect.gen(function*() {
      const { counts, short } = counted()
      const [first, second] = [yield* short, yield* short]
      yield* first.end
      const third = yield* short
      assert.strictEqual(third.built, second.built)
      yield* second.end
      assert.deepStrictEqual(counts.ended, [])
      yield* third.end
      assert.deepStrictEqual(counts.ended, [1])
      assert.notStrictEqual((yield* short).built, first.built)
    }))

  it.scoped("is built again after a failure, even while the use that failed keeps its scope", () =>
    Effect.gen(function*() {
      let reads = 0
      const { use } = counted(Effect.suspend(() => ++reads === 1 ? Effect.fail("not yet") : Effect.void))
      assert.strictEqual(yield* Effect.flip(use()), "not yet")
      assert.strictEqual(yield* use(), yield* use())
    }))

  it.effect("settles when the scope of its use closes during the build, and leaves nothing behind", () =>
    Effect.gen(function*() {
      const { counts, use } = counted(slow)
      const scope = yield* Scope.make()
      const building = yield* Effect.fork(Scope.extend(use(), scope))
      yield* TestClock.adjust("500 millis")
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 second")
      assert.isNotNull(building.unsafePoll(), "settles, as a plain layer does")
      const again = yield* Effect.fork(Effect.scoped(use()))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(again), { build: 2 })
      assert.include(counts.ended, 2)
    }))

  it.live("settles when the scope of its use closes before the build has begun", () =>
    Effect.gen(function*() {
      for (let turns = 0; turns < 6; turns++) {
        const { layer } = counted(Effect.sleep("10 millis"))
        const scope = yield* Scope.make()
        const building = yield* Effect.fork(
          Layer.buildWithScope(layer, scope).pipe(Effect.provideService(Source, "the same"))
        )
        for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow()
        yield* Scope.close(scope, Exit.void)
        yield* Fiber.await(building).pipe(
          Effect.timeoutFail({ duration: "5 seconds", onTimeout: () => `hangs after ${turns} turns` })
        )
      }
    }))

  it.effect("is built once for two uses that begin together, whenever their fibers yield", () =>
    Effect.gen(function*() {
      // the first use yields once, after each possible number of steps, and the second one does not
      for (let steps = 16; steps <= 300; steps++) {
        const { counts, use } = counted()
        const built = yield* Effect.scoped(Effect.gen(function*() {
          const first = yield* Effect.fork(use().pipe(Effect.withMaxOpsBeforeYield(steps)))
          const second = yield* Effect.fork(use())
          return [yield* Fiber.join(first), yield* Fiber.join(second)]
        }))
        assert.deepStrictEqual([built, counts.builds], [[{ build: 1 }, { build: 1 }], 1], `after ${steps} steps`)
        assert.deepStrictEqual(counts.ended, [1])
      }
    }))
})
