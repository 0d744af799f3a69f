import { AccessTokens, ClientCredentials, TokenEndpoint, TokenStatus } from "@credit-data/core"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Option, Redacted, TestClock } from "effect"
import { failures, textOf } from "./support/fakeEndpoint.ts"
import * as FakeTransport from "./support/fakeTransport.ts"
import * as Supply from "./support/supply.ts"
import { options } from "./support/tokenEndpoint.ts"

const waited = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust("100 millis")
    return yield* Fiber.join(fiber)
  })

describe("refresh", () => {
  it.scoped("refresh forgets a remembered failure and requests a token now", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.refused)
      yield* waited(Effect.flip(tokens.get))
      yield* endpoint.recover
      assert.strictEqual((yield* Effect.flip(tokens.get))._tag, "InvalidClient", "it is remembered")
      assert.strictEqual(textOf(yield* waited(tokens.refresh)), "token-2")
      assert.strictEqual(textOf(yield* tokens.get), "token-2")
    }))

  it.scoped("refresh renews a valid token, and fails with the failure of the request", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* waited(tokens.get)
      assert.strictEqual(textOf(yield* waited(tokens.refresh)), "token-2")
      yield* endpoint.fail(failures.refused)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* waited(Effect.flip(tokens.refresh)))._tag, "InvalidClient")
      assert.strictEqual(textOf(yield* tokens.get), "token-2", "the valid token remains")
    }))

  it.scoped("refresh joins a token request that is under way", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const caller = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("50 millis")
      assert.strictEqual(textOf(yield* waited(tokens.refresh)), "token-1")
      assert.strictEqual(textOf(yield* Fiber.join(caller)), "token-1")
      assert.strictEqual(yield* endpoint.requests, 1)
    }))

  it.scoped("refresh sends at most one request per second, and otherwise does what get does", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      yield* endpoint.fail(failures.refused)
      yield* waited(Effect.flip(tokens.refresh))
      yield* TestClock.setTime(999)
      assert.strictEqual((yield* Effect.flip(tokens.refresh))._tag, "InvalidClient")
      assert.strictEqual(yield* endpoint.requests, 1)
      yield* TestClock.setTime(1_000)
      yield* waited(Effect.flip(tokens.refresh))
      assert.strictEqual(yield* endpoint.requests, 2)
    }))

  const rejecting = (right: string) =>
    Effect.map(FakeTransport.make(FakeTransport.json(FakeTransport.granted)), (transport) => ({ ...transport, right }))

  it.scoped("refresh reads the credentials again before the request", () =>
    Effect.gen(function*() {
      const transport = yield* rejecting("new")
      let secret = "old"
      const credentials = Effect.sync((): ClientCredentials.ClientCredentials => ({
        clientId: "the-client",
        clientSecret: Redacted.make(secret)
      }))
      const layer = AccessTokens.layer().pipe(
        Layer.provide(Layer.effect(TokenEndpoint.TokenEndpoint, TokenEndpoint.make({ ...options, credentials }))),
        Layer.provide(transport.layer)
      )
      const tokens = yield* Effect.provide(AccessTokens.AccessTokens, yield* Layer.build(layer))
      secret = "new"
      yield* tokens.refresh
      const secrets = (yield* transport.sent).map(({ body }) => new URLSearchParams(body).get("client_secret"))
      assert.deepStrictEqual(secrets, ["new"])
    }))

  it.scoped("refresh keeps the old credentials when they cannot be read again, and logs that without showing them", () =>
    Effect.gen(function*() {
      const transport = yield* rejecting("old")
      const warnings: Array<string> = []
      const logger = Logger.make(({ message }) => warnings.push(String(message)))
      const readings: Array<Effect.Effect<never, unknown>> = [
        Effect.die(new TypeError("hidden")),
        Effect.fail({ _tag: "Unreachable", secret: "hidden" }),
        Effect.die("hidden"),
        Effect.never
      ]
      for (const second of readings) {
        let isFirst = true
        const credentials = Effect.suspend(() => {
          const first = Effect.succeed({ clientId: "the-client", clientSecret: Redacted.make("old") })
          const reading = isFirst ? first : second
          isFirst = false
          return reading
        })
        const layer = AccessTokens.layer().pipe(
          Layer.provide(Layer.effect(TokenEndpoint.TokenEndpoint, TokenEndpoint.make({ ...options, credentials }))),
          Layer.provide([transport.layer, Logger.replace(Logger.defaultLogger, logger)])
        )
        const tokens = yield* Effect.provide(AccessTokens.AccessTokens, yield* Layer.build(layer))
        const refreshed = yield* Effect.fork(tokens.refresh)
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.await(refreshed)
      }
      assert.deepStrictEqual(
        warnings.filter((text) => text.includes("credentials")),
        ["TypeError", "Unreachable", "an unknown failure", "reading took too long"].map((name) =>
          `The client credentials of test could not be read again: ${name}. The previous credentials remain in use.`
        )
      )
    }))
})

describe("credentials that cannot be read again", () => {
  it.scoped("are logged once until they can be read", () =>
    Effect.gen(function*() {
      const warnings: Array<string> = []
      const logger = Logger.make(({ message }) => warnings.push(String(message)))
      let isAway = false
      const credentials = Effect.suspend(() =>
        isAway
          ? Effect.fail({ _tag: "Away" })
          : Effect.succeed({ clientId: "the-client", clientSecret: Redacted.make("old") })
      )
      yield* Effect.gen(function*() {
        const { sharing } = yield* TokenEndpoint.make({ ...options, credentials })
        for (const next of [true, true, true, false, true]) {
          isAway = next
          yield* sharing?.reread ?? Effect.void
        }
      }).pipe(
        Effect.provideService(HttpClient.HttpClient, HttpClient.make(() => Effect.never)),
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
      assert.lengthOf(warnings.filter((text) => text.includes("could not be read again: Away")), 2)
    }))
})

describe("isUsable", () => {
  const before: TokenStatus.TokenStatus = {
    environment: "test",
    tokenEndpoint: "https://v2.example/oauth2/token",
    version: Option.none(),
    phase: "None",
    rejected: false,
    requestedScopes: [],
    scopes: [],
    missingScopes: [],
    requestedAt: Option.none(),
    expiresAt: Option.none(),
    nextRequestAt: Option.none(),
    lastFailure: Option.none(),
    failingSince: Option.none(),
    consecutiveFailures: 0,
    consecutiveRejections: 0,
    callersWaiting: 0,
    tokensServed: 0,
    eventsLost: 0,
    store: Option.none()
  }
  const rows = [
    ["None", false, false, true],
    ["None", false, true, false],
    ["Valid", false, false, true],
    ["Valid", false, true, true],
    ["Due", false, true, true],
    ["Expiring", false, true, true],
    ["Expired", false, false, true],
    ["Expired", false, true, false],
    ["Due", true, false, true],
    ["Due", true, true, false]
  ] as const
  for (const [phase, rejected, hasFailed, expected] of rows) {
    it(`isUsable is ${expected} for ${phase}${rejected ? ", rejected" : ""}${hasFailed ? ", after a failure" : ""}`, () => {
      assert.strictEqual(
        TokenStatus.isUsable({
          ...before,
          phase,
          rejected,
          lastFailure: hasFailed ? Option.some(failures.refused) : Option.none()
        }),
        expected
      )
    })
  }

  it.scoped("isUsable is true before the first call, false after a refusal, and true again after a success", () =>
    Effect.gen(function*() {
      const { endpoint, tokens } = yield* Supply.make()
      const isUsable = Effect.map(tokens.status, TokenStatus.isUsable)
      assert.isTrue(yield* isUsable)
      yield* endpoint.fail(failures.refused)
      yield* waited(Effect.flip(tokens.get))
      assert.isFalse(yield* isUsable)
      yield* endpoint.recover
      yield* waited(tokens.refresh)
      assert.isTrue(yield* isUsable)
    }))
})

describe("a program that gets its first token when it starts", () => {
  it.effect("a program that gets its first token when it starts fails with the typed error", () =>
    Effect.gen(function*() {
      const transport = yield* FakeTransport.make(FakeTransport.json({ error: "invalid_client" }, { status: 401 }))
      const Auth = AccessTokens.layer().pipe(
        Layer.provide(Layer.effect(TokenEndpoint.TokenEndpoint, TokenEndpoint.make(options))),
        Layer.provide(transport.layer)
      )
      const Ready = Layer.effectDiscard(Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get)).pipe(
        Layer.provideMerge(Auth)
      )
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Ready)))
      assert.deepInclude({ ...error }, { _tag: "InvalidClient" })
    }))
})
