import { TokenStatus } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
import { token } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

const setUp = Effect.fnUntraced(function*(options: Parameters<typeof Supply.make>[0] = {}) {
  const { endpoint, tokens } = yield* Supply.make({ latency: 0, ...options })
  return {
    endpoint,
    tokens,
    isUsable: Effect.map(tokens.status, TokenStatus.isUsable),
    rejections: Effect.map(tokens.status, ({ consecutiveRejections }) => consecutiveRejections),
    /** A call whose token the API rejects, and whose replacement it rejects too, unless it has worked. */
    rejectedCall: Effect.gen(function*() {
      const first = yield* tokens.get
      const second = yield* tokens.replace(first)
      if (second !== first) yield* tokens.invalidate(second)
    }),
    /** A call in which the API rejects the token and accepts its replacement. */
    repeatedCall: Effect.flatMap(tokens.get, tokens.replace)
  }
})

describe("a supply whose tokens the API rejects", () => {
  it.scoped("is usable while a token is replaced, and counts it until the replacement has lasted a minute", () =>
    Effect.gen(function*() {
      const { isUsable, rejections, repeatedCall } = yield* setUp()
      yield* repeatedCall
      assert.isTrue(yield* isUsable)
      assert.strictEqual(yield* rejections, 1)
      yield* TestClock.adjust("59999 millis")
      assert.strictEqual(yield* rejections, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* rejections, 0)
    }))

  it.scoped("is not usable from the first rejected replacement on, without a gap while calls continue", () =>
    Effect.gen(function*() {
      const { isUsable, rejectedCall, rejections } = yield* setUp()
      yield* rejectedCall
      assert.strictEqual(yield* rejections, 2)
      for (let second = 0; second < 600; second += 3) {
        assert.isFalse(yield* isUsable, `after ${second} s`)
        yield* TestClock.adjust("3 seconds")
        yield* rejectedCall
      }
      assert.isAtLeast(yield* rejections, 20)
    }))

  it.scoped("remains unusable when there are no calls, because nothing has shown the opposite", () =>
    Effect.gen(function*() {
      const { isUsable, rejectedCall } = yield* setUp()
      yield* rejectedCall
      yield* TestClock.adjust("30 minutes")
      assert.isFalse(yield* isUsable)
    }))

  it.scoped("is usable again when a token was not rejected for a minute", () =>
    Effect.gen(function*() {
      const { endpoint, isUsable, rejectedCall, tokens } = yield* setUp()
      yield* rejectedCall
      yield* TestClock.adjust("31 seconds")
      yield* tokens.get
      assert.strictEqual(yield* endpoint.requests, 3)
      yield* TestClock.adjust("59 seconds")
      assert.isFalse(yield* isUsable)
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* isUsable)
    }))

  it.scoped("counts revocations that are an hour apart as one rejected token each", () =>
    Effect.gen(function*() {
      const { isUsable, rejections, repeatedCall } = yield* setUp({ lifetime: "24 hours" })
      for (let hour = 0; hour < 5; hour++) {
        yield* repeatedCall
        assert.strictEqual(yield* rejections, 1)
        assert.isTrue(yield* isUsable)
        yield* TestClock.adjust("1 hour")
      }
    }))

  it.scoped("counts a token that lived for less than two minutes as accepted after half of its life", () =>
    Effect.gen(function*() {
      const { rejections, repeatedCall, tokens } = yield* setUp({ lifetime: "20 seconds" })
      yield* repeatedCall
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(yield* rejections, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* rejections, 0)
      // even when the next token has taken its place
      yield* TestClock.adjust("20 seconds")
      yield* tokens.get
      assert.strictEqual(yield* rejections, 0)
    }))
})

describe("a supply whose token lacks the scope of a client", () => {
  const blocked = (scopes: ReadonlyArray<"data-access:all" | "furnishment:all" | undefined>) =>
    Effect.gen(function*() {
      const { endpoint, isUsable, tokens } = yield* setUp()
      yield* endpoint.respond((text) => token(text, "1 hour", ["data-access:all"]))
      for (const scope of scopes) yield* tokens.registerClient(Option.fromNullable(scope))
      assert.isTrue(yield* isUsable, "before the first token, nothing is known")
      yield* tokens.get
      const status = yield* tokens.status
      assert.strictEqual(status.blocked, !(yield* isUsable))
      return status.blocked
    })

  it.scoped("is not usable if there is no other client", () =>
    Effect.gen(function*() {
      assert.isTrue(yield* blocked(["furnishment:all"]))
      assert.isTrue(yield* blocked(["furnishment:all", "furnishment:all"]))
    }))

  it.scoped("is usable for its other clients", () =>
    Effect.gen(function*() {
      assert.isFalse(yield* blocked(["furnishment:all", "data-access:all"]))
      assert.isFalse(yield* blocked(["furnishment:all", undefined]), "a client of any scope")
      assert.isFalse(yield* blocked([]), "no client at all")
    }))

  it.scoped("is usable again when the scope was granted", () =>
    Effect.gen(function*() {
      const { endpoint, isUsable, tokens } = yield* setUp()
      yield* endpoint.respond((text) => token(text, "1 hour", []))
      yield* tokens.registerClient(Option.some("data-access:all"))
      yield* tokens.get
      assert.isFalse(yield* isUsable)
      yield* endpoint.recover
      yield* tokens.reportMissingScope("data-access:all")
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* isUsable)
    }))
})
