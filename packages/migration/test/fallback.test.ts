import type { AccessScope, AccessTokens } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Metric, Option, TestClock } from "effect"
import * as Fallback from "../src/internal/fallback.ts"
import { logged } from "./support/logged.ts"
import { fallback, outcomeOf, shadow, v2 } from "./support/plans.ts"
import { environment, setUp, textOf } from "./support/versions.ts"

type World = Effect.Effect.Success<ReturnType<typeof setUp>>

/** Why V1 tokens are used now instead of V2 tokens. */
const reasons = ({ migration }: World) =>
  Effect.map(migration.report, ({ fallenBack }) => fallenBack.map(({ reason }) => reason._tag))

const ofGroup = ({ tokens }: World, scope: AccessScope.AccessScope) => tokens.forScope?.(scope) ?? tokens

describe("the fallback of a migration", () => {
  it.scoped("returns V1 tokens at once while Auth V2 refuses, and V2 tokens when it works", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const world = yield* setUp(fallback)
        world.v2.behaviour = "refuses"
        assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
        const during = yield* world.migration.report
        assert.strictEqual(during.fallbacks, 1)
        const [failed] = during.fallenBack
        assert(failed?.reason._tag === "Failed" && failed.reason.error._tag === "InvalidClient")
        assert.isTrue(Option.isNone(failed.scope))
        assert.strictEqual((yield* world.tokens.status).tokenEndpoint, "https://v1.example/token")
        world.v2.behaviour = "grants"
        assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
        // the supply of Auth V2 remembers the refusal for 30 seconds
        yield* TestClock.adjust("31 seconds")
        assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(textOf(yield* world.tokens.get), "V2-2")
        const after = yield* world.migration.report
        assert.deepStrictEqual([after.fallbacks, after.fallenBack], [3, []])
        assert.deepStrictEqual([after.v1.tokensServed, after.v2.tokensServed], [3, 1])
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
      assert.deepStrictEqual(yield* reasons(world), ["Slow"])
    }))

  it.scoped("returns a V1 token when the V2 token lacks a scope", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      world.v2.behaviour = "grants too little"
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      const [{ reason } = {}] = (yield* world.migration.report).fallenBack
      assert.deepStrictEqual(reason, { _tag: "MissingScopes", scopes: ["furnishment:all"] })
    }))

  it.scoped("returns a V2 token to the endpoint groups whose scope it covers", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const world = yield* setUp(fallback)
        world.v2.behaviour = "grants too little"
        assert.strictEqual(textOf(yield* ofGroup(world, "data-access:all").get), "V2-1")
        assert.strictEqual(textOf(yield* ofGroup(world, "furnishment:all").get), "V1-1")
        assert.include(
          lines,
          "WARN The token of Auth V2 lacks furnishment:all. Tokens of Auth V1 are used for furnishment:all until Auth V2 works."
        )
      })
    ))

  it.scoped("ends within minutes after a missing scope was granted, because Auth V2 is asked for it again", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      world.v2.behaviour = "grants too little"
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      yield* TestClock.adjust("1 minute")
      world.v2.behaviour = "grants"
      for (let minute = 0; minute < 6; minute++) {
        yield* world.tokens.get
        yield* TestClock.adjust("1 minute")
      }
      assert.match(textOf(yield* world.tokens.get), /^V2/)
      assert.isAtMost(world.v2.requests, 3)
      assert.deepStrictEqual(yield* reasons(world), [])
    }))

  it.scoped("logs to the loggers of the migration, for every caller", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const world = yield* setUp(fallback)
        world.v2.behaviour = "refuses"
        yield* Effect.provide(world.tokens.get, Logger.remove(Logger.defaultLogger))
        yield* TestClock.adjust("31 seconds")
        world.v2.behaviour = "grants"
        for (let call = 0; call < 2; call++) {
          yield* Effect.provide(world.tokens.get, Logger.remove(Logger.defaultLogger))
          yield* TestClock.adjust("1 second")
        }
        assert.lengthOf(lines.filter((line) => line.startsWith("WARN The token request to Auth V2 failed")), 1)
        assert.lengthOf(lines.filter((line) => line.startsWith("INFO Auth V2 works again")), 1)
      })
    ))

  it.scoped("reports why it began, and that it ended", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const causes = [
          ["hangs", "Slow", "Auth V2 returned no token within 2s."],
          ["grants too little", "MissingScopes", "The token of Auth V2 lacks furnishment:all."],
          ["refuses", "Failed", "The token request to Auth V2 failed: InvalidClient."]
        ] as const
        for (const [behaviour, tag, text] of causes) {
          lines.splice(0)
          const world = yield* setUp(fallback)
          world.v2.behaviour = behaviour
          const call = yield* Effect.fork(world.tokens.get)
          yield* TestClock.adjust("2 seconds")
          assert.strictEqual(textOf(yield* Fiber.join(call)), "V1-1")
          assert.include(lines, `WARN ${text} Tokens of Auth V1 are used until Auth V2 works.`)
          assert.deepStrictEqual(yield* reasons(world), [tag])
          world.v2.behaviour = "grants"
          yield* TestClock.adjust("2 hours")
          for (let each = 0; each < 3; each++) {
            yield* world.tokens.get
            yield* TestClock.adjust("30 seconds")
          }
          assert.include(lines, "INFO Auth V2 works again. Its tokens are used from now on.")
          assert.deepStrictEqual(yield* reasons(world), [])
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
      assert.deepStrictEqual(yield* reasons(world), ["Failed"])
      world.setPlan(shadow)
      yield* TestClock.adjust("10 seconds")
      yield* world.tokens.get
      assert.deepStrictEqual(yield* reasons(world), [])
      world.setPlan(fallback)
      world.v2.behaviour = "grants"
      yield* TestClock.adjust("30 seconds")
      assert.match(textOf(yield* world.tokens.get), /^V2/)
    }))

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
    Effect.gen(function*() {
      const world = yield* setUp(v2)
      world.v2.behaviour = "refuses"
      assert.strictEqual(outcomeOf(yield* Effect.exit(world.tokens.get)), "InvalidClient")
      assert.strictEqual((yield* world.migration.report).fallbacks, 0)
    }))
})

/** A call gets 401 with the token and with its replacement. */
const rejectTwice = Effect.fnUntraced(function*(tokens: AccessTokens.Service, scope?: AccessScope.AccessScope) {
  const first = yield* tokens.get
  const replacement = yield* tokens.replace(first)
  yield* tokens.reports?.rejectionStands(replacement, Option.fromNullable(scope)) ?? Effect.void
  return [textOf(first), textOf(replacement)]
})

describe("an API that rejects the tokens of Auth V2", () => {
  it.scoped("gets tokens of Auth V1 for five minutes, with the fallback", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const world = yield* setUp(fallback)
        const counter = Fallback.counterOf(environment.name, "Rejected")
        const { count } = yield* Metric.value(counter)
        assert.deepStrictEqual(yield* rejectTwice(world.tokens), ["V2-1", "V2-2"])
        assert.strictEqual((yield* Metric.value(counter)).count, count + 1)
        for (let minute = 0; minute < 5; minute++) {
          assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
          yield* TestClock.adjust(minute < 4 ? "1 minute" : "59 seconds")
        }
        assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
        assert.strictEqual(world.v2.requests, 2)
        assert.strictEqual((yield* world.migration.report).fallbacks, 6)
        assert.deepStrictEqual(yield* reasons(world), ["Rejected"])
        assert.deepStrictEqual(lines.filter((line) => line.includes("The API rejected a token of Auth V2 and")), [
          "WARN The API rejected a token of Auth V2 and its replacement. Tokens of Auth V1 are used for 5 minutes, " +
          "or until the plan changes."
        ])
        yield* TestClock.adjust("1 second")
        assert.match(textOf(yield* world.tokens.get), /^V2/)
        assert.deepStrictEqual(yield* reasons(world), [])
        assert.include(lines, "INFO Auth V2 works again. Its tokens are used from now on.")
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
      assert.deepStrictEqual(yield* rejectTwice(world.tokens), ["V2-2", "V2-3"])
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      assert.match(textOf(yield* world.tokens.refresh), /^V2/)
      assert.match(textOf(yield* world.tokens.get), /^V2/)
    }))

  it.scoped("gets no rejected token of Auth V2 when the plan returns to it at once, with the fallback", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      yield* rejectTwice(world.tokens)
      world.setPlan(shadow)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      world.setPlan(fallback)
      yield* TestClock.adjust("10 seconds")
      for (let call = 0; call < 3; call++) assert.strictEqual(textOf(yield* world.tokens.get), "V1-1")
      assert.deepStrictEqual(yield* reasons(world), ["Rejected"])
    }))

  it.scoped("gets tokens of Auth V1 only for the endpoint group whose calls it rejects, with the fallback", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const world = yield* setUp(fallback)
        const [dataAccess, furnishment] = [ofGroup(world, "data-access:all"), ofGroup(world, "furnishment:all")]
        assert.deepStrictEqual(yield* rejectTwice(furnishment, "furnishment:all"), ["V2-1", "V2-2"])
        for (let minute = 0; minute < 4; minute++) {
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(textOf(yield* ofGroup(world, "furnishment:all").get), "V1-1")
          assert.match(textOf(yield* dataAccess.get), /^V2/)
        }
        const { fallenBack } = yield* world.migration.report
        assert.deepStrictEqual(fallenBack.map(({ scope }) => scope), [Option.some("furnishment:all")])
        assert.include(
          lines,
          "WARN The API rejected a token of Auth V2 and its replacement. " +
            "Tokens of Auth V1 are used for furnishment:all for 5 minutes, or until the plan changes."
        )
        // whichever client refreshes
        yield* dataAccess.refresh
        assert.match(textOf(yield* furnishment.get), /^V2/)
      })
    ))

  it.scoped("gets a token of Auth V1 when Auth V2 requests no replacement yet, with the fallback", () =>
    Effect.gen(function*() {
      const world = yield* setUp(fallback)
      const replacement = yield* world.tokens.replace(yield* world.tokens.get)
      assert.strictEqual(textOf(replacement), "V2-2")
      assert.strictEqual(textOf(yield* world.tokens.replace(replacement)), "V1-1")
      assert.deepStrictEqual(yield* reasons(world), ["Rejected"])
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
      assert.deepStrictEqual(yield* reasons(world), [])
    }))

  it.scoped("gets tokens of Auth V2 without the fallback", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v2)
      yield* rejectTwice(world.tokens)
      assert.match(textOf(yield* world.tokens.get), /^V2/)
      assert.strictEqual(world.v1.requests, 0)
    }))
})
