import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope, TestClock } from "effect"
import { makeShared } from "../src/internal/sharedLayer.ts"

class Built extends Context.Tag("Built")<Built, object>() {}

it.scoped("parts of different kinds are never the same", () =>
  Effect.gen(function*() {
    const share = makeShared<Built, never, never>()
    const build = (part: unknown) =>
      Effect.map(share([part], () => Layer.sync(Built, () => ({}))), (context) => Context.get(context, Built))
    const parts = [{}, undefined, null, "null", Redacted.make("a"), Redacted.make("b"), Number.NaN]
    // the number of an object in a key must not be the number itself
    const numbers = Array.from({ length: 1_000 }, (_, number) => number)
    const all = yield* Effect.forEach([...parts, ...numbers], build)
    assert.strictEqual(new Set(all).size, all.length)
    assert.strictEqual(yield* build(Redacted.make("a")), all[4])
  }))

it.scoped("a use that waits for the build of another use is built although the other one is interrupted", () =>
  Effect.gen(function*() {
    const share = makeShared<Built, never, never>()
    let builds = 0
    const slow = Layer.effect(Built, Effect.delay(Effect.sync(() => ({ build: ++builds })), "1 second"))
    const use = share(["a"], () => slow)
    const [leader, follower] = [yield* Effect.fork(use), yield* Effect.fork(use)]
    yield* TestClock.adjust("500 millis")
    yield* Fiber.interrupt(leader)
    yield* TestClock.adjust("1 second")
    const exit = follower.unsafePoll()
    assert.isTrue(exit !== null && Exit.isSuccess(exit), String(exit))
    assert.strictEqual(builds, 1)
  }))

it.effect("what is built remains until its last use has ended, also if the use that built it ended first", () =>
  Effect.gen(function*() {
    const share = makeShared<Built, never, never>()
    const ended: Array<number> = []
    let builds = 0
    const layer = Layer.scoped(
      Built,
      Effect.acquireRelease(
        Effect.sync(() => ({ build: ++builds })),
        ({ build }) => Effect.sync(() => ended.push(build))
      )
    )
    const use = Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Scope.extend(share(["a"], () => layer), scope)
      return { built: Context.get(context, Built), end: Scope.close(scope, Exit.void) }
    })
    const [first, second] = [yield* use, yield* use]
    yield* first.end
    const third = yield* use
    assert.strictEqual(third.built, second.built)
    yield* second.end
    assert.deepStrictEqual(ended, [])
    yield* third.end
    assert.deepStrictEqual(ended, [1])
    assert.notStrictEqual((yield* use).built, first.built)
  }))
