import { AccessToken, TokenEvent } from "@credit-data/core"
import { StoreError } from "@credit-data/fleet"
import { beginning, printed } from "@credit-data/test-support/printed"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Exit, Logger, Option, Redacted, Scope, TestClock } from "effect"
import * as Lines from "../src/internal/logLines.ts"
import * as Access from "../src/internal/access.ts"

const tokenEndpoint = "https://v2.example/oauth2/token"

const millis = (count: number) => Duration.millis(count)

/** The guard of a process, with its log and its events. */
const setUp = Effect.gen(function*() {
  const logs: Array<string> = []
  const events: Array<TokenEvent.TokenEvent> = []
  const logger = Logger.make(({ logLevel, message }) => {
    logs.push(`${logLevel.label} ${String(message)}`)
  })
  const clock = yield* Effect.clock
  const access = yield* Access.make(clock, {
    clientId: "acme",
    environment: { name: "test", audience: "test", baseUrl: "https://api.example" },
    url: tokenEndpoint
  })
  yield* access.listen((event) =>
    Effect.sync(() => {
      events.push(event)
    })
  )
  yield* TestClock.adjust(millis(1_000))
  const logged = Effect.provide(Logger.replace(Logger.defaultLogger, logger))
  /** What an effect gets while this much time passes, in small steps. */
  const during = Effect.fnUntraced(function*<A, E>(effect: Effect.Effect<A, E>, time: number, step = 10) {
    const fiber = yield* Effect.fork(logged(Effect.exit(effect)))
    for (let passed = 0; passed < time; passed += step) yield* TestClock.adjust(millis(step))
    const exit = fiber.unsafePoll()
    return exit === null || Exit.isFailure(exit) ? "waits" : Exit.isSuccess(exit.value) ? "Success" : "Alone"
  })
  return { access, during, events, logged, logs }
})

const takes = (time: number) => Effect.sleep(millis(time))

const refused = Effect.fail(new StoreError.StoreError({ reason: "Refused", code: "OOM" }))

describe("the time that a store may take from a token request", () => {
  it.scoped("is 0.6 seconds for all operations for which a caller waits", () =>
    Effect.gen(function*() {
      const { access, during, logs } = yield* setUp
      const { end, withinBudget } = yield* access.session
      assert.strictEqual(yield* during(withinBudget(takes(390)), 390), "Success")
      assert.strictEqual(yield* during(withinBudget(takes(400)), 190), "waits")
      assert.strictEqual((yield* access.status).faults, 0)
      const { withinBudget: another } = yield* access.session
      assert.strictEqual(yield* during(another(takes(590)), 590), "Success", "each token request has its own budget")
      yield* TestClock.adjust(millis(10))
      assert.strictEqual((yield* access.status).faults, 1)
      assert.include(logs[0], beginning(Lines.storeUnusable("Timeout", "…", "")))
      yield* end
      assert.isTrue(Option.isSome((yield* access.status).lastFault), "it had a fault")
    }))

  it.scoped("is not spent by operations for which no caller waits, and each of them has as much", () =>
    Effect.gen(function*() {
      const { access, during } = yield* setUp
      const { unhurried, withinBudget } = yield* access.session
      for (const _ of [1, 2, 3]) assert.strictEqual(yield* during(unhurried(takes(500)), 500), "Success")
      assert.strictEqual(yield* during(withinBudget(takes(590)), 590), "Success")
      assert.strictEqual(yield* during(unhurried(takes(590)), 590), "Success")
      assert.strictEqual(yield* during(unhurried(takes(700)), 600), "Alone")
    }))

  it.scoped("counts at most 50 ms for an operation during which the process did not run", () =>
    Effect.gen(function*() {
      const { access, during } = yield* setUp
      const { withinBudget } = yield* access.session
      assert.strictEqual(yield* during(withinBudget(takes(30)), 30_000, 30_000), "Success")
      assert.strictEqual(yield* during(withinBudget(takes(120)), 120), "Success")
      assert.strictEqual(yield* during(withinBudget(takes(390)), 390), "Success", "50 and 150 ms are spent")
      const { withinBudget: other } = yield* access.session
      assert.strictEqual(yield* during(other(takes(30)), 30_000, 30_000), "Success")
      assert.strictEqual(yield* during(other(takes(590)), 570), "Alone")
    }))
})

describe("a fault of a store", () => {
  it.scoped("is an event and a status with its time, and one line in the log until the store works again", () =>
    Effect.gen(function*() {
      const { access, during, events, logged, logs } = yield* setUp
      const session = yield* access.session
      assert.strictEqual(yield* during(session.withinBudget(refused), 10), "Alone")
      const at = DateTime.unsafeMake(1_000)
      assert.deepStrictEqual(events, [TokenEvent.StoreFailed({ at, tokenEndpoint, reason: "Refused" })])
      const { lastFault, ...status } = yield* access.status
      assert.deepStrictEqual(status, {
        lastUsedAt: Option.some(at),
        tokensTaken: 0,
        failuresTaken: 0,
        published: 0,
        faults: 1
      })
      assert.deepStrictEqual(lastFault, Option.some({ at, reason: "Refused" as const }))
      yield* logged(session.end)
      assert.strictEqual(yield* during((yield* access.session).withinBudget(refused), 10), "Alone")
      assert.lengthOf(logs, 1)
      assert.include(logs[0], beginning(Lines.storeUnusable("OOM", "…", "")))
      assert.include(logs[0], "Check the memory and the permissions of the store")
      const works = yield* access.session
      assert.strictEqual(yield* during(works.withinBudget(Effect.void), 10), "Success")
      yield* logged(works.end)
      yield* logged((yield* access.session).end)
      assert.deepStrictEqual(logs.slice(1), [printed(Lines.storeWorks(`${tokenEndpoint} (test, client acme)`))])
      assert.deepStrictEqual((yield* access.status).lastFault, Option.none())
    }))

  it("reports in its message what failed, and the code", () => {
    const message = (reason: StoreError.StoreError["reason"]) =>
      new StoreError.StoreError({ reason, code: "A_CODE" }).message
    assert.strictEqual(message("Unavailable"), "The shared store cannot be reached: A_CODE.")
    assert.strictEqual(message("Timeout"), "The shared store did not respond in time: A_CODE.")
    assert.strictEqual(message("Refused"), "The shared store refused an operation: A_CODE.")
    const error = new StoreError.StoreError({ reason: "Refused", code: "A_CODE" })
    assert.strictEqual(structuredClone(error).message, error.message)
  })

  it.scoped("is an event for a listener until its scope closes", () =>
    Effect.gen(function*() {
      const { access, events, logged } = yield* setUp
      let heard = 0
      const scope = yield* Scope.make()
      yield* Scope.extend(access.listen(() => Effect.sync(() => void heard++)), scope)
      const fault = logged(Effect.flatMap(access.session, ({ withinBudget }) => Effect.exit(withinBudget(refused))))
      yield* fault
      yield* Scope.close(scope, Exit.void)
      yield* fault
      assert.deepStrictEqual([heard, events.length], [1, 2])
    }))

  it.scoped("can be an operation of the program's engine that dies", () =>
    Effect.gen(function*() {
      const { access, during, logs } = yield* setUp
      assert.strictEqual(yield* during((yield* access.session).withinBudget(Effect.die("a canary")), 10), "Alone")
      assert.deepStrictEqual(
        (yield* access.status).lastFault,
        Option.some({ at: DateTime.unsafeMake(1_000), reason: "Refused" as const })
      )
      assert.include(logs[0], beginning(Lines.storeUnusable("Defect", "…", "")))
      assert.notInclude(logs[0], "canary")
    }))

  it.scoped("for the third time in a row leaves the store alone for ten seconds, and not with successes in between", () =>
    Effect.gen(function*() {
      const { access, during, logged } = yield* setUp
      const isAlone = Effect.map(Effect.exit(access.session), Exit.isFailure)
      for (const fault of [1, 2, 3, 4]) {
        yield* during((yield* access.session).withinBudget(refused), 10)
        assert.isFalse(yield* isAlone, `fault ${fault} follows a success`)
        yield* logged((yield* access.session).end)
      }
      for (const _ of [1, 2, 3]) {
        assert.isFalse(yield* isAlone)
        yield* during((yield* access.session).withinBudget(refused), 10)
      }
      assert.isTrue(yield* isAlone)
      yield* TestClock.adjust(millis(9_989))
      assert.isTrue(yield* isAlone)
      yield* TestClock.adjust(millis(1))
      assert.isFalse(yield* isAlone)
    }))
})

describe("what a process does with a store", () => {
  it.scoped("is counted", () =>
    Effect.gen(function*() {
      const { access } = yield* setUp
      const token = () =>
        new AccessToken.AccessToken({
          secret: Redacted.make("a token"),
          scopes: [],
          requestedAt: DateTime.unsafeMake(0),
          expiresAt: DateTime.unsafeMake(1)
        })
      const [own, taken] = [token(), token()]
      access.took(taken)
      assert.deepStrictEqual([access.wasTaken(own), access.wasTaken(taken)], [false, true])
      access.tookFailure()
      access.published()
      const { failuresTaken, published, tokensTaken } = yield* access.status
      assert.deepStrictEqual([failuresTaken, published, tokensTaken], [1, 1, 1])
    }))

  it.scoped("shows in the log once that a value cannot be opened", () =>
    Effect.gen(function*() {
      const { access, logged, logs } = yield* setUp
      for (const _ of [1, 2]) yield* logged(access.unusable)
      assert.lengthOf(logs, 1)
      assert.strictEqual(logs[0], printed(Lines.valueUnusable(`${tokenEndpoint} (test, client acme)`)))
    }))
})
