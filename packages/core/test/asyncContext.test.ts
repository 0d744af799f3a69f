import { assert, describe, it } from "@effect/vitest"
import { type AccessTokens, TokenEndpoint } from "@credit-data/core"
import { DateTime, Duration, Effect, Fiber, Option, TestClock } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"
import { failures, token } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

const names = ["a", "b", "c", "d"]

type Use = (tokens: AccessTokens.Service) => Effect.Effect<unknown, unknown>

/** Callers, each in a context of its own, in which they are seen to go on after they have waited. */
const callersOf = ({ tokens }: Effect.Effect.Success<ReturnType<typeof Supply.make>>) => {
  const storage = new AsyncLocalStorage<string>()
  const context = Effect.sync(() => storage.getStore())
  return {
    /** Begins the calls, of which each goes on with the context that it sees. */
    begin: (use: Use) =>
      names.map((name) => storage.run(name, () => Effect.runFork(Effect.zipRight(Effect.exit(use(tokens)), context)))),
    /** Begins calls that are interrupted, and returns the context in which the end of each runs. */
    beginInterrupted: (use: Use) => {
      const seen: Array<string | undefined> = []
      const fibers = names.map((name) =>
        storage.run(
          name,
          () => Effect.runFork(Effect.onInterrupt(use(tokens), () => Effect.map(context, (store) => seen.push(store))))
        )
      )
      return { fibers, seen }
    }
  }
}

const assertOwn = (fibers: ReadonlyArray<Fiber.RuntimeFiber<string | undefined>>) =>
  Effect.gen(function*() {
    const seen = yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
    assert.deepStrictEqual(seen, names)
  })

describe("a caller that has waited for a token goes on in its own AsyncLocalStorage context", () => {
  const get: Use = (tokens) => tokens.get

  it.scoped("after the first token request, and after its failure", () =>
    Effect.gen(function*() {
      for (const respond of [undefined, () => Effect.fail(failures.refused)]) {
        const supply = yield* Supply.make({ ...(respond !== undefined && { grant: respond }) })
        const fibers = callersOf(supply).begin(get)
        yield* TestClock.adjust("1 second")
        yield* assertOwn(fibers)
        assert.strictEqual(yield* supply.endpoint.requests, 1)
      }
    }))

  it.scoped("after a late renewal, and after an outage", () =>
    Effect.gen(function*() {
      const supply = yield* Supply.make()
      const callers = callersOf(supply)
      const first = callers.begin(get)
      yield* TestClock.adjust("1 second")
      yield* assertOwn(first)
      yield* TestClock.adjust("2 hours")
      yield* supply.endpoint.fail(failures.refused)
      const failed = callers.begin(get)
      yield* TestClock.adjust("1 second")
      yield* assertOwn(failed)
      yield* supply.endpoint.recover
      yield* TestClock.adjust("1 minute")
      const recovered = callers.begin(get)
      yield* TestClock.adjust("1 second")
      yield* assertOwn(recovered)
    }))

  it.scoped("after a 401, and after a refresh", () =>
    Effect.gen(function*() {
      const supply = yield* Supply.make()
      const callers = callersOf(supply)
      const first = callers.begin(get)
      yield* TestClock.adjust("1 second")
      yield* assertOwn(first)
      const rejected = yield* supply.tokens.get
      for (
        const use of [(tokens) => tokens.replace(rejected), (tokens) => tokens.refresh] satisfies ReadonlyArray<Use>
      ) {
        const fibers = callers.begin(use)
        yield* TestClock.adjust("1 second")
        yield* assertOwn(fibers)
      }
      assert.strictEqual(yield* supply.endpoint.requests, 3)
    }))

  it.scoped("after a look for a token that exists elsewhere", () =>
    Effect.gen(function*() {
      const sharing: TokenEndpoint.Sharing = {
        timeLimit: Duration.seconds(20),
        listen: () => Effect.void,
        wasFound: () => false,
        find: () => Effect.delay(Effect.asSome(token("found", "1 hour")), "100 millis"),
        status: Effect.succeed({
          tokensTaken: 0,
          failuresTaken: 0,
          published: 0,
          faults: 0,
          lastFault: Option.none(),
          lastUsedAt: Option.none<DateTime.Utc>()
        })
      }
      const supply = yield* Supply.make({ sharing, grant: () => Effect.fail(failures.refused) })
      const callers = callersOf(supply)
      yield* Effect.forkDaemon(Effect.exit(supply.tokens.get))
      yield* TestClock.adjust("1 second")
      const fibers = callers.begin(get)
      yield* TestClock.adjust("1 second")
      yield* assertOwn(fibers)
    }))

  it.scoped("when it is interrupted, by another caller too", () =>
    Effect.gen(function*() {
      const supply = yield* Supply.make()
      const { fibers, seen } = callersOf(supply).beginInterrupted(get)
      yield* TestClock.adjust("10 millis")
      yield* Fiber.interruptAll(fibers)
      assert.deepStrictEqual(seen, names)
    }))

  it.scoped("when the supply closes", () =>
    Effect.gen(function*() {
      const fibers = yield* Effect.scoped(Effect.gen(function*() {
        const supply = yield* Supply.make()
        const fibers = callersOf(supply).begin(get)
        yield* TestClock.adjust("10 millis")
        return fibers
      }))
      yield* assertOwn(fibers)
    }))
})
