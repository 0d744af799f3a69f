import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Layer, Logger, TestClock } from "effect"
import { environment, failures, textOf, token } from "./support/fakeEndpoint.ts"

/** A supply that requests two scopes. The endpoint grants one of them until a test changes its response. */
const setUp = Effect.gen(function*() {
  let requests = 0
  let respond: (text: string) => ReturnType<TokenEndpoint.Service["requestToken"]> = (text) => token(text, "24 hours")
  const endpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
    environment,
    url: "https://v2.example/oauth2/token",
    requestedScopes: ["data-access:all", "furnishment:all"] as const,
    deadline: Duration.seconds(10),
    requestToken: () => respond(`token-${++requests}`)
  })
  const warnings: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel.label === "WARN") warnings.push(String(message))
  })
  const context = yield* Layer.build(
    AccessTokens.layer({ renewalWindow: { from: 0.8, to: 0.8 } }).pipe(
      Layer.provide([endpoint, Logger.replace(Logger.defaultLogger, logger)])
    )
  )
  const tokens = yield* Effect.provide(AccessTokens.AccessTokens, context)
  const get = Effect.gen(function*() {
    const fiber = yield* Effect.fork(tokens.get)
    yield* TestClock.adjust("0 millis")
    return yield* Fiber.join(fiber)
  })
  const report = Effect.gen(function*() {
    const nextTryAt = yield* tokens.reports?.scopeMissing("furnishment:all") ?? DateTime.now
    yield* TestClock.adjust("0 millis")
    return DateTime.toEpochMillis(nextTryAt)
  })
  return {
    tokens,
    get,
    report,
    requests: () => requests,
    warnings,
    respond: (next: typeof respond) => {
      respond = next
    }
  }
})

const both = ["data-access:all", "furnishment:all"]

describe("a scope that was requested and not granted", () => {
  it.scoped("a missing scope is logged once per supply, and listed in the status", () =>
    Effect.gen(function*() {
      const { get, tokens, warnings } = yield* setUp
      assert.deepStrictEqual((yield* tokens.status).missingScopes, [])
      yield* get
      assert.deepStrictEqual((yield* tokens.status).missingScopes, ["furnishment:all"])
      yield* TestClock.adjust("20 hours")
      yield* get
      yield* TestClock.adjust("0 millis")
      assert.deepStrictEqual(warnings, [
        "The token endpoint https://v2.example/oauth2/token (test) did not grant: furnishment:all. Calls that need a missing scope " +
        "fail. Ask the operator to grant it to this client."
      ])
    }))

  it.scoped("while calls need a missing scope, a token is requested for it in the background every 5 minutes", () =>
    Effect.gen(function*() {
      const { get, report, requests } = yield* setUp
      yield* get
      const sentAt: Array<number> = []
      for (let minute = 0; minute < 30; minute++) {
        const before = requests()
        for (let call = 0; call < 2; call++) yield* report
        if (requests() > before) sentAt.push(minute)
        assert.isAtMost(requests(), before + 1)
        yield* TestClock.adjust("1 minute")
      }
      assert.deepStrictEqual(sentAt, [5, 10, 15, 20, 25])
    }))

  it.scoped("the report of a missing scope returns the instant of the next token request for the scope", () =>
    Effect.gen(function*() {
      const { respond, get, report } = yield* setUp
      yield* get
      assert.strictEqual(yield* report, 300_000)
      yield* TestClock.adjust("5 minutes")
      respond(() => Effect.fail(failures.refused))
      assert.strictEqual(yield* report, 600_000)
      assert.strictEqual(yield* report, 330_000, "a failure is remembered, and its pause comes first")
    }))

  it.scoped("a scope that is granted later is used, and nothing is requested for it any more", () =>
    Effect.gen(function*() {
      const { respond, get, report, requests, tokens } = yield* setUp
      yield* get
      yield* TestClock.adjust("5 minutes")
      respond((text) => token(text, "24 hours", both))
      yield* report
      assert.isTrue((yield* get).covers("furnishment:all"))
      assert.deepStrictEqual((yield* tokens.status).missingScopes, [])
      yield* TestClock.adjust("10 minutes")
      yield* report
      assert.strictEqual(requests(), 2, "nothing is missing any more")
    }))

  it.scoped("missing scopes and rejected tokens have separate limits for renewals", () =>
    Effect.gen(function*() {
      const { get, report, requests, tokens } = yield* setUp
      yield* tokens.invalidate(yield* get)
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(requests(), 2)
      yield* report
      assert.strictEqual(requests(), 3)
      yield* tokens.invalidate(yield* get)
      yield* TestClock.adjust("0 millis")
      assert.strictEqual(requests(), 4)
    }))

  it.scoped("a failed renewal for a missing scope keeps the current token", () =>
    Effect.gen(function*() {
      const { respond, get, report } = yield* setUp
      yield* get
      respond(() => Effect.fail(failures.refused))
      yield* TestClock.adjust("5 minutes")
      yield* report
      assert.strictEqual(textOf(yield* get), "token-1")
    }))

  it.scoped("a missing scope that is reported without a token sends no request", () =>
    Effect.gen(function*() {
      const { report, requests } = yield* setUp
      yield* report
      assert.strictEqual(requests(), 0)
    }))
})
