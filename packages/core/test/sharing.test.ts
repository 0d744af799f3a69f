import { AccessTokens, TokenEndpoint, TokenError } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Option, Random, TestClock } from "effect"
import { credentials } from "./support/tokenEndpoint.ts"
import { environment, failures, textOf, token } from "./support/fakeEndpoint.ts"

/** A supply whose endpoint shares tokens. The endpoint refuses the client, and the test sets what a search finds. */
const setUp = Effect.gen(function*() {
  const world = {
    requests: 0,
    searches: Array<string>(),
    found: Effect.succeedNone as ReturnType<NonNullable<TokenEndpoint.Sharing["find"]>>
  }
  const endpoint: TokenEndpoint.Service = {
    environment,
    url: "https://v2.example/oauth2/token",
    requestedScopes: ["data-access:all"],
    deadline: Duration.seconds(10),
    requestToken: () =>
      Effect.suspend(() => {
        world.requests++
        return failures.refused
      }),
    sharing: {
      credentials: Effect.succeed(credentials),
      reread: Effect.succeed(credentials),
      timeLimit: Duration.seconds(20),
      find: (replaces, failure) =>
        Effect.suspend(() => {
          world.searches.push(`${replaces._tag} ${failure._tag}`)
          return world.found
        })
    }
  }
  const context = yield* Layer.build(
    AccessTokens.layer().pipe(Layer.provide(Layer.succeed(TokenEndpoint.TokenEndpoint, endpoint)))
  ).pipe(Effect.withRandom(Random.make("seed")))
  const tokens = yield* Effect.provide(AccessTokens.AccessTokens, context)
  const outcome = Effect.map(
    Effect.exit(tokens.get),
    Exit.match({ onFailure: () => "failure", onSuccess: textOf })
  )
  return { outcome, tokens, world }
})

describe("a supply that remembers a failure, over an endpoint that shares tokens", () => {
  it.scoped("searches while callers request tokens, together and about once a second, and sends no request", () =>
    Effect.gen(function*() {
      const { outcome, world } = yield* setUp
      assert.strictEqual(yield* outcome, "failure")
      for (let step = 0; step < 50; step++) {
        yield* Effect.all([outcome, outcome, outcome], { concurrency: "unbounded" })
        yield* TestClock.adjust("100 millis")
      }
      assert.isAtLeast(world.searches.length, 4)
      assert.isAtMost(world.searches.length, 7)
      assert.deepStrictEqual(new Set(world.searches), new Set(["Nothing InvalidClient"]))
      assert.strictEqual(world.requests, 1)
      world.searches.length = 0
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(world.searches, [])
    }))

  it.scoped("takes what a search finds, and not what has expired", () =>
    Effect.gen(function*() {
      const { outcome, tokens, world } = yield* setUp
      yield* outcome
      world.found = Effect.asSome(token("expired", "0 millis"))
      assert.strictEqual(yield* outcome, "failure")
      yield* TestClock.adjust("2 seconds")
      world.found = Effect.asSome(token("found", "1 hour"))
      // the caller for whom the search began
      assert.strictEqual(yield* outcome, "found")
      assert.deepInclude(yield* tokens.status, { phase: "Valid", lastFailure: Option.none() })
      assert.strictEqual(world.requests, 1)
    }))

  it.scoped("lets a caller wait for a search for 0.6 seconds, and takes what it finds later", () =>
    Effect.gen(function*() {
      const { outcome, world } = yield* setUp
      yield* outcome
      world.found = Effect.delay(Effect.asSome(token("late", "1 hour")), "5 seconds")
      const waiting = yield* Effect.fork(outcome)
      yield* TestClock.adjust("599 millis")
      assert.isNull(waiting.unsafePoll())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(waiting), "failure")
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* outcome, "late")
      assert.lengthOf(world.searches, 1)
    }))

  it.scoped("does not take what a search finds after the state has changed", () =>
    Effect.gen(function*() {
      const { outcome, tokens, world } = yield* setUp
      yield* outcome
      world.found = Effect.delay(Effect.asSome(token("late", "1 hour")), "2 seconds")
      const waiting = yield* Effect.fork(outcome)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(waiting), "failure")
      // an engineer starts a refresh, which is refused again
      assert.isTrue(Exit.isFailure(yield* Effect.exit(tokens.refresh)))
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* tokens.status).phase, "None")
    }))

  it.scoped("gives callers the endpoint's failure, and not the failure of a search that dies", () =>
    Effect.gen(function*() {
      const { tokens, world } = yield* setUp
      yield* Effect.exit(tokens.get)
      world.found = Effect.die(new Error("a canary"))
      const error = yield* Effect.flip(tokens.get)
      assert.instanceOf(error, TokenError.InvalidClient)
    }))
})
