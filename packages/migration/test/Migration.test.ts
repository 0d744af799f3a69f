import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Scope, Stream, TestClock } from "effect"
import { logged } from "./support/logged.ts"
import { fallback, outcomeOf, shadow, v1, v2 } from "./support/plans.ts"
import { environment, setUp, textOf } from "./support/versions.ts"

describe("the stages of a migration", () => {
  it.scoped("v1 returns V1 tokens and sends nothing to Auth V2", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v1)
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual([world.v1.requests, world.v2.requests], [1, 0])
      assert.strictEqual((yield* world.tokens.status).tokenEndpoint, "https://v1.example/token")
    }))

  it.scoped("shadow returns V1 tokens, and obtains one token from Auth V2 in the background", () =>
    Effect.gen(function*() {
      const world = yield* setUp(shadow)
      for (let call = 0; call < 10; call++) {
        assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
        yield* TestClock.adjust("2 seconds")
      }
      assert.deepStrictEqual([world.v1.requests, world.v2.requests], [1, 1])
      const { v1, v2 } = yield* world.migration.report
      assert.deepStrictEqual([v1.phase, v2.phase], ["Valid", "Valid"])
      assert.deepStrictEqual([v1.tokensServed, v2.tokensServed], [10, 0])
    }))

  it.scoped("shadow asks Auth V2 again for a missing scope, and shows when it was granted", () =>
    Effect.gen(function*() {
      const world = yield* setUp(shadow)
      const missing = Effect.map(world.migration.report, ({ v2 }) => v2.missingScopes)
      world.v2.behaviour = "grants too little"
      for (let call = 0; call < 10; call++) {
        yield* world.tokens.get
        yield* TestClock.adjust("1 minute")
      }
      assert.deepStrictEqual(yield* missing, ["furnishment:all"])
      // one after another, at most every five minutes
      assert.isAtMost(world.v2.requests, 4)
      world.v2.behaviour = "grants"
      for (let call = 0; call < 6; call++) {
        yield* world.tokens.get
        yield* TestClock.adjust("1 minute")
      }
      assert.deepStrictEqual(yield* missing, [])
    }))

  it.scoped("shadow warns once of a scope that Auth V2 does not grant, and of no scope that it grants", () =>
    logged((lines) =>
      Effect.gen(function*() {
        for (const behaviour of ["grants too little", "grants"] as const) {
          const world = yield* setUp(shadow)
          world.v2.behaviour = behaviour
          for (let call = 0; call < 3; call++) {
            yield* world.tokens.get
            yield* TestClock.adjust("2 seconds")
          }
        }
        const [line, ...others] = lines.filter((line) => line.includes("did not grant"))
        assert.match(
          line ?? "",
          /^WARN The token endpoint https:\/\/v2.example\/token \(test\) did not grant: furnishment:all/
        )
        assert.lengthOf(others, 0)
      })
    ))

  it.scoped("shadow has one request to Auth V2 under way, and starts one at most every second", () =>
    Effect.gen(function*() {
      const world = yield* setUp(shadow)
      yield* world.tokens.get
      yield* TestClock.adjust("2 hours")
      world.v2.behaviour = "hangs"
      const waiting = Effect.map(world.tokens.status, ({ callersWaiting }) => callersWaiting)
      for (let round = 0; round < 2; round++) {
        for (let call = 0; call < 3; call++) yield* world.tokens.get
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual(yield* waiting, 1)
      }
    }))

  it.scoped("shadow hides from callers that Auth V2 refuses or hangs", () =>
    Effect.gen(function*() {
      const world = yield* setUp(shadow)
      world.v2.behaviour = "refuses"
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      yield* TestClock.adjust("31 seconds")
      world.v2.behaviour = "hangs"
      for (let call = 0; call < 5; call++) {
        assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
        yield* TestClock.adjust("2 seconds")
      }
      assert.strictEqual(world.v2.requests, 2)
      const { v2 } = yield* world.migration.report
      assert.isTrue(Option.exists(v2.lastFailure, ({ _tag }) => _tag === "InvalidClient"))
    }))

  it.scoped("v2 returns V2 tokens, and the failures of Auth V2", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v2)
      assert.strictEqual(textOf(yield* world.tokens.get), "V2-1")
      yield* TestClock.adjust("2 hours")
      world.v2.behaviour = "refuses"
      assert.strictEqual(outcomeOf(yield* Effect.exit(world.tokens.get)), "InvalidClient")
      assert.strictEqual(world.v1.requests, 0)
      assert.strictEqual((yield* world.tokens.status).tokenEndpoint, "https://v2.example/token")
    }))
})

describe("a rejected token", () => {
  it.scoped("is replaced by the version that issued it, whatever the plan is now", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v1)
      const ofV1 = yield* world.tokens.get
      world.setPlan(v2)
      yield* TestClock.adjust("10 seconds")
      const ofV2 = yield* world.tokens.get
      assert.deepStrictEqual([textOf(ofV1), textOf(ofV2)], ["V1-1", "V2-1"])
      assert.strictEqual(textOf(yield* world.tokens.replace(ofV1)), "V1-2")
      assert.strictEqual(textOf(yield* world.tokens.replace(ofV2)), "V2-2")
      const again = yield* world.tokens.get
      yield* TestClock.adjust("31 seconds")
      yield* world.tokens.invalidate(again)
      assert.strictEqual(textOf(yield* world.tokens.get), "V2-3")
      assert.deepStrictEqual([world.v1.requests, world.v2.requests], [2, 3])
    }))

  it.scoped("is replaced by a token of Auth V1 when Auth V2 has no replacement, with the fallback", () =>
    Effect.gen(function*() {
      for (const behaviour of ["refuses", "hangs"] as const) {
        const world = yield* setUp(fallback)
        const ofV2 = yield* world.tokens.get
        yield* TestClock.adjust("31 seconds")
        world.v2.behaviour = behaviour
        const replacement = yield* Effect.fork(world.tokens.replace(ofV2))
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual([textOf(ofV2), textOf(yield* Fiber.join(replacement))], ["V2-1", "V1-1"])
        const { fallbacks, fallenBack } = yield* world.migration.report
        assert.strictEqual(fallbacks, 1)
        const expected = behaviour === "hangs" ? "Slow" : "Failed"
        assert.deepStrictEqual(fallenBack.map(({ reason }) => reason._tag), [expected])
      }
    }))

  it.scoped("is not replaced by a V1 token without the fallback", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v2)
      const ofV2 = yield* world.tokens.get
      yield* TestClock.adjust("31 seconds")
      world.v2.behaviour = "refuses"
      assert.strictEqual((yield* Effect.flip(world.tokens.replace(ofV2)))._tag, "InvalidClient")
      assert.strictEqual(world.v1.requests, 0)
    }))

  it.scoped("of unknown origin belongs to the version in use", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v1)
      const known = yield* world.tokens.get
      const other = yield* setUp(v1)
      yield* other.tokens.get
      yield* other.tokens.invalidate(known)
      assert.strictEqual(textOf(yield* other.tokens.get), "V1-2")
    }))
})

describe("the state of a migration", () => {
  it.scoped("counts the tokens of both versions, so that no count ever falls", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v1)
      const served = () => Effect.map(world.tokens.status, ({ tokensServed }) => tokensServed)
      for (let call = 0; call < 3; call++) yield* world.tokens.get
      assert.strictEqual(yield* served(), 3)
      world.setPlan(v2)
      yield* TestClock.adjust("10 seconds")
      yield* world.tokens.get
      assert.strictEqual(yield* served(), 4)
      const report = yield* world.migration.report
      assert.deepStrictEqual([report.v1.tokensServed, report.v2.tokensServed], [3, 1])
    }))

  it.scoped("shows the scopes and the last failure of each version", () =>
    Effect.gen(function*() {
      const world = yield* setUp(shadow)
      world.v2.behaviour = "grants too little"
      yield* world.tokens.get
      yield* TestClock.adjust("1 second")
      const { v1, v2 } = yield* world.migration.report
      assert.deepStrictEqual([v1.scopes, v1.missingScopes], [["read:consumers"], []])
      assert.deepStrictEqual([v2.scopes, v2.missingScopes], [["data-access:all"], ["furnishment:all"]])
      assert.deepStrictEqual([v1.lastFailure, v2.lastFailure], [Option.none(), Option.none()])
      world.v2.behaviour = "refuses"
      yield* Effect.ignore(world.tokens.refresh)
      yield* TestClock.adjust("1 second")
      const after = yield* world.migration.report
      assert.isTrue(Option.exists(after.v2.lastFailure, ({ _tag }) => _tag === "InvalidClient"))
      assert.isTrue(Option.isNone(after.v1.lastFailure))
    }))

  it.scoped("can be compared without another HttpClient", () =>
    Effect.gen(function*() {
      const client = HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, new Response("{}")))
      )
      const world = yield* setUp(v1, { client })
      const { verdict } = yield* world.migration.compare([{ method: "GET", path: "/data-access/ping" }])
      assert.strictEqual(verdict, "Ready")
    }))
})

describe("refresh of a migration", () => {
  it.scoped("requests a token from the version in use", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v1)
      assert.strictEqual(textOf(yield* world.tokens.refresh), "V1-1")
      world.setPlan(shadow)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(textOf(yield* world.tokens.refresh), "V1-2")
      yield* TestClock.adjust("0 millis")
      assert.strictEqual(world.v2.requests, 1)
      world.setPlan(v2)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(textOf(yield* world.tokens.refresh), "V2-2")
      assert.strictEqual(world.v1.requests, 2)
    }))

  it.scoped("falls back to Auth V1 with the fallback", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      world.v2.behaviour = "refuses"
      yield* world.tokens.get
      assert.strictEqual(textOf(yield* world.tokens.refresh), "V1-2")
      world.v1.behaviour = "refuses"
      yield* TestClock.adjust("40 seconds")
      assert.strictEqual((yield* Effect.flip(world.tokens.refresh)).tokenEndpoint, "https://v2.example/token")
    }))

  it.scoped("ends the fallback when Auth V2 grants everything again", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      world.v2.behaviour = "refuses"
      yield* world.tokens.get
      yield* TestClock.adjust("1 second")
      world.v2.behaviour = "grants too little"
      yield* world.tokens.refresh
      assert.lengthOf((yield* world.migration.report).fallenBack, 1)
      yield* TestClock.adjust("1 second")
      world.v2.behaviour = "grants"
      yield* world.tokens.refresh
      assert.deepStrictEqual((yield* world.migration.report).fallenBack, [])
    }))
})

describe("the supplies of a migration", () => {
  it.scoped("must belong to one API", () =>
    Effect.gen(function*() {
      for (const other of [{ baseUrl: "https://other.example" }, { audience: "another" }]) {
        const error = yield* Effect.flip(setUp(v1, { environmentOfV1: { ...environment, ...other } }))
        assert.match(String(error), /v1.*environment.*Expected the base URL and the audience of v2/)
        assert.notInclude(String(error), "other.example")
      }
    }))

  it.scoped("publish their events together", () =>
    Effect.gen(function*() {
      const world = yield* setUp(shadow)
      const events = yield* Effect.fork(Stream.runCollect(Stream.take(world.tokens.events, 4)))
      for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow()
      yield* world.tokens.get
      yield* TestClock.adjust("0 millis")
      const heard = Array.from(yield* Fiber.join(events), ({ _tag }) => _tag)
      assert.deepStrictEqual(heard.toSorted(), ["Obtained", "Obtained", "Requested", "Requested"])
    }))

  it.effect("fail with Closed when the migration's scope has closed, in every stage and from a listener of its events too", () =>
    Effect.gen(function*() {
      for (const plan of [v1, shadow, v2, fallback]) {
        const scope = yield* Scope.make()
        const { tokens, ...versions } = yield* Scope.extend(setUp(plan), scope)
        const held = yield* tokens.get
        const last = yield* Effect.fork(Stream.runDrain(tokens.events).pipe(Effect.zipRight(Effect.exit(tokens.get))))
        yield* TestClock.adjust("2 seconds")
        const requests = versions.v1.requests + versions.v2.requests
        yield* Scope.close(scope, Exit.void)
        const late = [yield* Fiber.join(last)]
        for (const use of [tokens.get, tokens.refresh, tokens.replace(held)]) late.push(yield* Effect.exit(use))
        for (const outcome of late) {
          const error = yield* Effect.flip(outcome)
          assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Closed" })
        }
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(versions.v1.requests + versions.v2.requests, requests, "no request after the end")
      }
    }))

  it.scoped("report a missing scope to Auth V2", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v2)
      yield* world.tokens.get
      yield* TestClock.adjust("5 minutes")
      yield* world.tokens.reports?.scopeMissing("serviceplus:all") ?? Effect.void
      yield* TestClock.adjust("0 millis")
      assert.deepStrictEqual([world.v1.requests, world.v2.requests], [0, 2])
    }))
})
