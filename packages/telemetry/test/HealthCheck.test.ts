import { TokenError, type TokenStatus } from "@credit-data/core"
import { HealthCheck } from "@credit-data/telemetry"
import { HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option, TestClock } from "effect"
import * as FakeSupply from "./support/fakeSupply.ts"

const read = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.gen(function*() {
    const web = HttpServerResponse.toWeb(response)
    assert.strictEqual(web.headers.get("cache-control"), "no-store")
    return [web.status, yield* Effect.promise((): Promise<unknown> => web.json())] as const
  })

const failure = new TokenError.InvalidClient({
  environment: "test",
  tokenEndpoint: FakeSupply.initial.tokenEndpoint,
  endpointStatus: 401,
  description: "a text of the server"
})
const expiresAt = Option.some(DateTime.unsafeMake(60_000))
const valid: Partial<TokenStatus.TokenStatus> = {
  phase: "Valid",
  expiresAt,
  lastFailure: Option.none(),
  rejected: false
}

describe("HealthCheck.live", () => {
  it.effect("returns 200", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Effect.flatMap(HealthCheck.live, read), [200, { status: "live" }])
    }))
})

describe("HealthCheck.ready", () => {
  const ready = { status: "ready", phase: "Valid", rejected: false, expiresAt: "1970-01-01T00:01:00.000Z" }
  const request = (supply: Effect.Effect.Success<ReturnType<typeof FakeSupply.make>>) =>
    Effect.provide(HealthCheck.ready, supply.layer)
  const check = (supply: Parameters<typeof request>[0]) => Effect.flatMap(request(supply), read)

  it.effect("returns 200 with a valid token, and requests none", () =>
    Effect.gen(function*() {
      const supply = yield* FakeSupply.make({ ...valid, nextRequestAt: Option.some(DateTime.unsafeMake(50_000)) })
      assert.deepStrictEqual(yield* check(supply), [
        200,
        { ...ready, nextRequestAt: "1970-01-01T00:00:50.000Z" }
      ])
      yield* supply.set({ lastFailure: Option.some(failure) })
      assert.strictEqual((yield* check(supply))[0], 200, "the renewal fails, and the token is valid")
      yield* supply.set({ rejected: true })
      assert.strictEqual((yield* check(supply))[0], 200, "without calls, a rejected token could not become accepted")
      assert.strictEqual(yield* supply.gets, 0)
    }))

  const unusable: ReadonlyArray<readonly [string, Partial<TokenStatus.TokenStatus>]> = [
    ["before the first token", {}],
    ["after a failure", { lastFailure: Option.some(failure) }],
    ["with an expired token", { phase: "Expired", expiresAt }]
  ]
  for (const [name, before] of unusable) {
    it.effect(`requests a token ${name}, and returns 200 when it gets one`, () =>
      Effect.gen(function*() {
        const supply = yield* FakeSupply.make(before)
        yield* supply.onGet(supply.set(valid))
        assert.deepStrictEqual(yield* check(supply), [200, ready])
        assert.strictEqual(yield* supply.gets, 1)
      }))
  }

  it.effect("returns 503 without a token, with the failure's type and no other text of it", () =>
    Effect.gen(function*() {
      const supply = yield* FakeSupply.make({
        lastFailure: Option.some(failure),
        nextRequestAt: Option.some(DateTime.unsafeMake(30_000))
      })
      assert.deepStrictEqual(yield* check(supply), [503, {
        status: "unavailable",
        phase: "None",
        rejected: false,
        failure: "InvalidClient",
        nextRequestAt: "1970-01-01T00:00:30.000Z"
      }])
    }))

  it.effect("waits for at most 800 ms in an uninterruptible region too, as below HttpServer.serve", () =>
    Effect.gen(function*() {
      const supply = yield* FakeSupply.make()
      yield* supply.onGet(Effect.never)
      // the end of the test would wait for its own fibers
      const checking = yield* Effect.forkDaemon(Effect.uninterruptible(request(supply)))
      yield* TestClock.adjust("800 millis")
      const response = checking.unsafePoll()
      assert(response !== null, "it still waits")
      assert.strictEqual((yield* response).status, 503)
    }))

  it.effect("waits for a token for at most 800 ms", () =>
    Effect.gen(function*() {
      const supply = yield* FakeSupply.make()
      yield* supply.onGet(Effect.never)
      const checking = yield* Effect.fork(request(supply))
      yield* TestClock.adjust("799 millis")
      assert.isNull(checking.unsafePoll())
      yield* TestClock.adjust("1 millis")
      const response = checking.unsafePoll()
      assert(response !== null, "it still waits")
      assert.deepStrictEqual(yield* Effect.flatMap(response, read), [503, {
        status: "unavailable",
        phase: "None",
        rejected: false
      }])
      yield* supply.onGet(Effect.interrupt)
      assert.strictEqual((yield* check(supply))[0], 503, "the supply has ended")
      yield* supply.set({ phase: "Expired", expiresAt })
      yield* supply.onGet(Effect.void)
      assert.strictEqual((yield* check(supply))[0], 503)
    }))
})
