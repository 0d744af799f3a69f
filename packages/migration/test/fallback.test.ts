import type { AccessTokens } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Metric, Option, Stream, TestClock } from "effect"
import * as Fallback from "../src/internal/fallback.ts"
import { logged } from "./support/logged.ts"
import { fallback, outcomeOf, shadow, v2 } from "./support/plans.ts"
import { environment, setUp, textOf } from "./support/versions.ts"

describe("the fallback of a migration", () => {
  it.scoped("returns V1 tokens at once while Auth V2 refuses, and V2 tokens when it works", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const world = yield* setUp(fallback)
        world.v2.behaviour = "refuses"
        const events = yield* Effect.fork(Stream.runCollect(Stream.take(world.migration.events, 2)))
        yield* Effect.yieldNow()
        assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
        const during = yield* world.migration.report
        assert.strictEqual(during.fallbacks, 1)
        assert.isTrue(Option.exists(during.fallenBack, ({ reason }) => reason._tag === "Failed"))
        assert.strictEqual((yield* world.tokens.status).tokenEndpoint, "https://v1.example/token")
        world.v2.behaviour = "grants"
        assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
        // the supply of Auth V2 remembers the refusal for 30 seconds
        yield* TestClock.adjust("31 seconds")
        assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(textOf(yield* world.tokens.get), "V2-2")
        const after = yield* world.migration.report
        assert.deepStrictEqual([after.fallbacks, after.fallenBack], [3, Option.none()])
        assert.deepStrictEqual([after.v1.tokensServed, after.v2.tokensServed], [3, 1])
        assert.deepStrictEqual(Array.from(yield* Fiber.join(events), ({ _tag }) => _tag), ["FellBack", "Returned"])
        const own = lines.filter((line) => line.includes("Tokens of Auth V1") || line.includes("Auth V2 works again"))
        assert.deepStrictEqual(own, [
          "WARN The token request to Auth V2 failed: InvalidClient. Tokens of Auth V1 are used until Auth V2 works.",
          "INFO Auth V2 works again. Its tokens are used from now on."
        ])
      })
    ))

  it.scoped("waits for Auth V2 for two seconds, once", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      world.v2.behaviour = "hangs"
      const first = yield* Effect.fork(world.tokens.get)
      yield* TestClock.adjust("1999 millis")
      assert.isNull(first.unsafePoll())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(textOf(yield* Fiber.join(first)), "V1-1")
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      assert.isTrue(
        Option.exists((yield* world.migration.report).fallenBack, ({ reason }) => reason._tag === "Slow")
      )
    }))

  it.scoped("returns a V1 token when the V2 token lacks a scope", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      world.v2.behaviour = "grants too little"
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      const { fallenBack } = yield* world.migration.report
      assert.isTrue(
        Option.exists(fallenBack, ({ reason }) =>
          reason._tag === "MissingScopes" && reason.scopes.join(" ") === "furnishment:all")
      )
    }))

  it.scoped("reports in the log and in an event why it began, and that it ended", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const reasons = [
          ["hangs", "Slow", "Auth V2 returned no token within 2s."],
          ["grants too little", "MissingScopes", "The token of Auth V2 lacks furnishment:all."],
          ["refuses", "Failed", "The token request to Auth V2 failed: InvalidClient."]
        ] as const
        for (const [behaviour, tag, text] of reasons) {
          const world = yield* setUp(fallback)
          world.v2.behaviour = behaviour
          const events = yield* Effect.fork(Stream.runCollect(Stream.take(world.migration.events, 2)))
          yield* Effect.yieldNow()
          const call = yield* Effect.fork(world.tokens.get)
          yield* TestClock.adjust("2 seconds")
          assert.strictEqual(textOf(yield* Fiber.join(call)), "V1-1")
          assert.include(lines, `WARN ${text} Tokens of Auth V1 are used until Auth V2 works.`)
          world.v2.behaviour = "grants"
          yield* TestClock.adjust("2 hours")
          for (let each = 0; each < 3; each++) {
            yield* world.tokens.get
            yield* TestClock.adjust("30 seconds")
          }
          const [began, ended] = yield* Fiber.join(events)
          assert(began?._tag === "FellBack" && ended?._tag === "Returned")
          assert.strictEqual(began.reason._tag, tag)
          if (began.reason._tag === "Failed") assert.strictEqual(began.reason.error._tag, "InvalidClient")
          if (began.reason._tag === "MissingScopes") assert.deepStrictEqual(began.reason.scopes, ["furnishment:all"])
          assert.isAbove(DateTime.toEpochMillis(ended.at), DateTime.toEpochMillis(began.at))
        }
      })
    ))

  it.scoped("shows the version that has a usable token", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      const shown = Effect.map(world.tokens.status, ({ tokenEndpoint }) => tokenEndpoint)
      // no version has a token yet
      assert.strictEqual(yield* shown, "https://v2.example/token")
      yield* world.tokens.get
      assert.strictEqual(yield* shown, "https://v2.example/token")
      world.v2.behaviour = "refuses"
      yield* TestClock.adjust("2 hours")
      yield* world.tokens.get
      assert.strictEqual(yield* shown, "https://v1.example/token")
      yield* TestClock.adjust("2 hours")
      world.v1.behaviour = "refuses"
      yield* Effect.exit(world.tokens.get)
      assert.strictEqual(yield* shown, "https://v2.example/token")
    }))

  it.scoped("is the failure of Auth V2 when neither version issues a token", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      world.v1.behaviour = world.v2.behaviour = "refuses"
      const outcome = yield* Effect.flip(world.tokens.get)
      assert.strictEqual(outcome.tokenEndpoint, "https://v2.example/token")
      assert.strictEqual((yield* world.tokens.status).tokenEndpoint, "https://v2.example/token")
    }))

  it.scoped("returns a V2 token that lacks a scope when Auth V1 issues none", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      world.v1.behaviour = "refuses"
      world.v2.behaviour = "grants too little"
      assert.strictEqual(textOf(yield* world.tokens.get), "V2-1")
    }))

  it.scoped("ends with its plan", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      world.v2.behaviour = "refuses"
      yield* world.tokens.get
      assert.isTrue(Option.isSome((yield* world.migration.report).fallenBack))
      world.setPlan(shadow)
      yield* TestClock.adjust("10 seconds")
      yield* world.tokens.get
      assert.isTrue(Option.isNone((yield* world.migration.report).fallenBack))
      world.setPlan(fallback)
      world.v2.behaviour = "grants"
      yield* TestClock.adjust("30 seconds")
      assert.match(textOf(yield* world.tokens.get), /^V2/)
    }))

  it.scoped("is off by default", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v2)
      world.v2.behaviour = "refuses"
      assert.strictEqual(outcomeOf(yield* Effect.exit(world.tokens.get)), "InvalidClient")
      assert.strictEqual((yield* world.migration.report).fallbacks, 0)
    }))
})

/** A call gets 401 with the token and with its replacement. */
const rejectTwice = Effect.fnUntraced(function*(tokens: AccessTokens.Service) {
  const first = yield* tokens.get
  const replacement = yield* tokens.replace(first)
  yield* tokens.invalidate(replacement)
  return [textOf(first), textOf(replacement)]
})

describe("an API that rejects the tokens of Auth V2", () => {
  it.scoped("gets tokens of Auth V1 for five minutes, with the fallback", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const world = yield* setUp(fallback)
        const counter = Fallback.counterOf(environment.name, "Rejected")
        const { count } = yield* Metric.value(counter)
        const events = yield* Effect.fork(Stream.runCollect(Stream.take(world.migration.events, 2)))
        yield* Effect.yieldNow()
        assert.deepStrictEqual(yield* rejectTwice(world.tokens), ["V2-1", "V2-2"])
        assert.strictEqual((yield* Metric.value(counter)).count, count + 1)
        for (let minute = 0; minute < 5; minute++) {
          assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
          yield* TestClock.adjust(minute < 4 ? "1 minute" : "59 seconds")
        }
        assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
        assert.strictEqual(world.v2.requests, 2)
        const during = yield* world.migration.report
        assert.deepStrictEqual([during.fallbacks, during.v2.tokensRejected], [6, 2])
        assert.isTrue(Option.exists(during.fallenBack, ({ reason }) => reason._tag === "Rejected"))
        assert.deepStrictEqual(lines.filter((line) => line.includes("The API rejected a token of Auth V2 and")), [
          "WARN The API rejected a token of Auth V2 and its replacement. Tokens of Auth V1 are used for 5 minutes, " +
          "or until the plan changes."
        ])
        yield* TestClock.adjust("1 second")
        yield* world.tokens.get
        yield* TestClock.adjust("1 second")
        assert.match(textOf(yield* world.tokens.get), /^V2/)
        const heard = Array.from(yield* Fiber.join(events), ({ _tag }) => _tag)
        assert.deepStrictEqual(heard, ["FellBack", "Returned"])
      })
    ))

  it.scoped("gets tokens of Auth V2 again when the plan changes, or when refresh obtains one", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      yield* rejectTwice(world.tokens)
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      world.setPlan(v2)
      yield* TestClock.adjust("10 seconds")
      assert.match(textOf(yield* world.tokens.get), /^V2/)
      world.setPlan(fallback)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(textOf(yield* world.tokens.replace(yield* world.tokens.get)), "V1-1")
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      assert.match(textOf(yield* world.tokens.refresh), /^V2/)
      assert.match(textOf(yield* world.tokens.get), /^V2/)
    }))

  it.scoped("gets a token of Auth V1 at once from the calls that have not been sent again yet", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      yield* rejectTwice(world.tokens)
      const other = yield* setUp(fallback)
      const unknown = yield* other.tokens.get
      yield* TestClock.adjust("1 second")
      assert.match(textOf(yield* world.tokens.replace(unknown)), /^V1/)
    }))

  it.scoped("is not an API that rejects a replacement which worked for a while", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      const replacement = yield* world.tokens.replace(yield* world.tokens.get)
      yield* TestClock.adjust("31 seconds")
      yield* world.tokens.invalidate(replacement)
      assert.strictEqual(textOf(yield* world.tokens.get), "V2-3")
      assert.isTrue(Option.isNone((yield* world.migration.report).fallenBack))
    }))

  it.scoped("gets tokens of Auth V2 without the fallback", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v2)
      yield* rejectTwice(world.tokens)
      assert.match(textOf(yield* world.tokens.get), /^V2/)
      assert.strictEqual(world.v1.requests, 0)
    }))
})
