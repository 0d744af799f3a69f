import { TokenStatus } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { failures, textOf, token } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

const setUp = Effect.fnUntraced(function*(options: Parameters<typeof Supply.make>[0] = {}) {
  const { endpoint, tokens } = yield* Supply.make({ latency: 0, ...options })
  return {
    endpoint,
    tokens,
    reports: tokens.reports ?? (yield* Effect.die(new Error("the supply has no reports"))),
    isUsable: Effect.map(tokens.status, TokenStatus.isUsable),
    rejections: Effect.map(tokens.status, ({ consecutiveRejections }) => consecutiveRejections),
    /** A call whose token the API rejects, and whose replacement it rejects too. */
    rejectedCall: Effect.gen(function*() {
      const first = yield* tokens.get
      const second = yield* tokens.replace(first)
      if (second !== first) yield* tokens.invalidate(second)
    })
  }
})

describe("a supply whose tokens the API rejects", () => {
  it.scoped("counts a token once if it is rejected before any call has succeeded with it, and is unusable from the second on", () =>
    Effect.gen(function*() {
      const { isUsable, rejections, tokens } = yield* setUp()
      const first = yield* tokens.get
      const second = yield* tokens.replace(first)
      assert.deepStrictEqual([yield* rejections, yield* isUsable], [1, true])
      yield* Effect.replicateEffect(tokens.invalidate(second), 5)
      assert.deepStrictEqual([yield* rejections, yield* isUsable], [2, false])
    }))

  it.scoped("does not count a token with which a call has succeeded", () =>
    Effect.gen(function*() {
      const { rejections, reports, tokens } = yield* setUp()
      for (let hour = 0; hour < 5; hour++) {
        const token = yield* tokens.get
        assert.isTrue(reports.isUnproven(token))
        yield* reports.accepted(token)
        assert.isFalse(reports.isUnproven(token))
        yield* tokens.replace(token)
        assert.strictEqual(yield* rejections, 0)
        yield* TestClock.adjust("1 hour")
      }
    }))

  it.scoped("is usable again with the first call that succeeds", () =>
    Effect.gen(function*() {
      const { isUsable, rejectedCall, rejections, reports, tokens } = yield* setUp()
      yield* rejectedCall
      yield* TestClock.adjust("30 minutes")
      assert.isFalse(yield* isUsable, "nothing has shown the opposite")
      yield* reports.accepted(yield* tokens.get)
      assert.deepStrictEqual([yield* rejections, yield* isUsable], [0, true])
    }))

  it.scoped("requests one token every 30 s if the API rejects every token", () =>
    Effect.gen(function*() {
      const { endpoint, isUsable, rejectedCall, rejections } = yield* setUp()
      for (let second = 0; second < 600; second += 5) {
        yield* rejectedCall
        assert.isFalse(yield* isUsable, `after ${second} s`)
        yield* TestClock.adjust("5 seconds")
      }
      assert.strictEqual(yield* endpoint.requests, 21)
      assert.strictEqual(yield* rejections, 21)
    }))

  it.scoped("is not disturbed by one path that rejects every token", () =>
    Effect.gen(function*() {
      const { endpoint, isUsable, rejectedCall, rejections, reports, tokens } = yield* setUp()
      yield* reports.accepted(yield* tokens.get)
      for (let second = 0; second < 300; second += 5) {
        yield* rejectedCall
        assert.isTrue(yield* isUsable, `after ${second} s`)
        assert.isAtMost(yield* rejections, 1)
        yield* reports.accepted(yield* tokens.get)
        yield* TestClock.adjust("5 seconds")
      }
      assert.strictEqual(yield* endpoint.requests, 11)
    }))

  it.scoped("does not replace a token that works because an earlier call was rejected", () =>
    Effect.gen(function*() {
      const { endpoint, reports, tokens } = yield* setUp()
      const first = yield* tokens.get
      yield* reports.accepted(first)
      yield* endpoint.fail(failures.refused)
      yield* tokens.invalidate(first)
      yield* TestClock.adjust("1 second")
      assert.isTrue((yield* tokens.status).rejected, "its replacement failed")
      assert.isTrue(reports.isUnproven(first))
      yield* reports.accepted(first)
      assert.isFalse((yield* tokens.status).rejected)
      yield* endpoint.recover
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(textOf(yield* tokens.get), "token-1")
      assert.strictEqual(yield* endpoint.requests, 2)
    }))
})

describe("a supply whose token lacks requested scopes", () => {
  it.scoped("is not usable if it lacks all of them", () =>
    Effect.gen(function*() {
      const { endpoint, isUsable, reports, tokens } = yield* setUp()
      yield* endpoint.respond((text) => token(text, "1 hour", ["another:scope"]))
      assert.isTrue(yield* isUsable, "before the first token, nothing is known")
      yield* tokens.get
      assert.isFalse(yield* isUsable)
      yield* endpoint.recover
      yield* TestClock.adjust("5 minutes")
      yield* reports.scopeMissing("data-access:all")
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* isUsable)
    }))
})
