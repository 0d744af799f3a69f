import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess, EnablementServices, Furnishment } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Config, DateTime, Effect, Fiber, Layer, Logger, TestClock, TestServices } from "effect"
import { simulated } from "../src/simulated.ts"

const quiet = Logger.remove(Logger.defaultLogger)

describe("one token request per token lifetime", () => {
  it.effect("10 000 cold callers of a real server cause one token request", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const tokens = yield* AccessTokens.AccessTokens
      const got = yield* Effect.all(Arr.makeBy(10_000, () => tokens.get), { concurrency: "unbounded" })
      assert.strictEqual(new Set(got).size, 1)
      assert.strictEqual(yield* simulator.tokenRequests, 1)
    }).pipe(Effect.provide(simulated(AuthV2.layerConfig(), NodeHttpClient.layer))))

  it.effect("10 000 cold callers of a server that refuses the client cause one token request", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const tokens = yield* AccessTokens.AccessTokens
      yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"), { times: 100 })
      const got = yield* Effect.all(Arr.makeBy(10_000, () => Effect.flip(tokens.get)), { concurrency: "unbounded" })
      assert.deepStrictEqual([...new Set(got.map(({ _tag }) => _tag))], ["InvalidClient"])
      assert.strictEqual(yield* simulator.tokenRequests, 1)
    }).pipe(Effect.provide(simulated(AuthV2.layerConfig(), NodeHttpClient.layer))))

  const calls = Effect.all([
    Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42")),
    Effect.flatMap(Furnishment.Furnishment, (client) => client.get("/furnishment/submissions/7")),
    Effect.flatMap(EnablementServices.EnablementServices, (client) => client.get("/enablement-services/offers/1"))
  ], { concurrency: "unbounded" })

  for (
    const [name, auth, server] of [["V1", AuthV1.layerConfig(), "AuthV1"], [
      "V2",
      AuthV2.layerConfig(),
      "AuthV2"
    ]] as const
  ) {
    it.effect(`${name}: three groups share one token, and its renewal neither fails a call nor sends one twice`, () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const callAll = Effect.map(calls, (responses) => responses.map(({ status }) => status))
        for (let hour = 0; hour < 48; hour++) {
          assert.deepStrictEqual(yield* callAll, [200, 200, 200])
          yield* TestClock.adjust("1 hour")
        }
        const received = yield* simulator.received
        const requests = received.filter((request) => request.server === server)
        assert.isTrue(requests.length === 3, `${requests.length} token requests in two days`)
        assert.strictEqual(received.length, requests.length + 48 * 3, "no call was made twice")
      }).pipe(
        Effect.provide(
          Layer.provideMerge(
            Layer.mergeAll(DataAccess.layer(), Furnishment.layer(), EnablementServices.layer()),
            simulated(auth, NodeHttpClient.layer)
          ).pipe(Layer.provide(quiet))
        )
      ))
  }

  it.effect("two supplies in one program never mix their tokens: Data Access over V1, Furnishment over V2", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const dataAccess = yield* DataAccess.DataAccess
      const furnishment = yield* Furnishment.Furnishment
      for (let round = 0; round < 3; round++) {
        assert.strictEqual((yield* dataAccess.get("/data-access/consumers/42")).status, 200)
        assert.strictEqual((yield* furnishment.get("/furnishment/submissions/7")).status, 200)
        assert.strictEqual(
          (yield* furnishment.get("/data-access/consumers/42")).status,
          403,
          "V2's token covers only Furnishment"
        )
      }
      const servers = (yield* simulator.received).map(({ server }) => server).filter((server) => server !== "Api")
      assert.deepStrictEqual(servers.toSorted(), ["AuthV1", "AuthV2"])
    }).pipe(
      Effect.provide(
        Layer.merge(
          DataAccess.layer().pipe(Layer.provide(AuthV1.layerConfig())),
          Furnishment.layer().pipe(
            Layer.provide(AuthV2.layerConfig({ scopes: Config.succeed(["furnishment:all"]) }))
          )
        ).pipe(
          Layer.provide([NodeHttpClient.layer, Simulator.layerConfigProvider]),
          Layer.provideMerge(Simulator.layer()),
          Layer.provide(quiet)
        )
      )
    ))

  it.effect("100 calls that are rejected at the same time cause one renewal, and all of them succeed", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const dataAccess = yield* DataAccess.DataAccess
      const call = Effect.map(dataAccess.get("/data-access/consumers/42"), ({ status }) => status)
      assert.strictEqual(yield* call, 200)
      yield* simulator.revokeTokens
      const statuses = yield* Effect.all(Arr.makeBy(100, () => call), { concurrency: "unbounded" })
      assert.deepStrictEqual([...new Set(statuses)], [200])
      assert.strictEqual(yield* simulator.tokenRequests, 2)
    }).pipe(
      Effect.provide(Layer.provideMerge(DataAccess.layer(), simulated(AuthV2.layerConfig(), NodeHttpClient.layer)))
    ))

  it.effect("an API that rejects every token causes one renewal, and its callers get the 401", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const dataAccess = yield* DataAccess.DataAccess
      yield* simulator.failCalls(Fault.Response({ status: 401 }), { times: 1_000 })
      for (let round = 0; round < 20; round++) {
        assert.strictEqual((yield* dataAccess.get("/data-access/consumers/42")).status, 401)
      }
      assert.strictEqual(yield* simulator.tokenRequests, 2)
    }).pipe(
      Effect.provide(Layer.provideMerge(DataAccess.layer(), simulated(AuthV2.layerConfig(), NodeHttpClient.layer)))
    ))

  it.effect("a rotated secret is read, and tokens obtained with the old secret remain in use", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const auth = AuthV2.layer({
        environment: simulator.environment,
        credentials: simulator.credentials,
        scopes: ["data-access:all"]
      })
      yield* Effect.gen(function*() {
        const tokens = yield* AccessTokens.AccessTokens
        const before = yield* tokens.get
        yield* simulator.rotateSecret
        assert.strictEqual(yield* tokens.get, before)
        yield* TestClock.adjust("25 hours")
        const after = yield* tokens.get
        assert.notStrictEqual(after, before)
        assert.strictEqual(yield* simulator.tokenRequests, 3, "including a refused request")
      }).pipe(Effect.provide(auth))
    }).pipe(Effect.provide(Layer.merge(Simulator.layer(), NodeHttpClient.layer))))

  it.effect("expiry counts from the instant of the request, even when the response takes 9 s", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const tokens = yield* AccessTokens.AccessTokens
      yield* simulator.failTokenRequests(Fault.Delay({ duration: "9 seconds" }))
      const waiting = yield* Effect.fork(tokens.get)
      yield* simulator.awaitReceived("AuthV2", 1)
      yield* TestClock.adjust("9 seconds")
      const token = yield* Fiber.join(waiting)
      assert.strictEqual(DateTime.toEpochMillis(token.requestedAt), 0)
      assert.strictEqual(DateTime.toEpochMillis(token.expiresAt), 86_399_000)
    }).pipe(Effect.provide(simulated(AuthV2.layerConfig(), NodeHttpClient.layer))))

  it.effect("tokens of 10 s never get a 401, although the server rounds their instants down to whole seconds", () =>
    Effect.gen(function*() {
      const dataAccess = yield* DataAccess.DataAccess
      const simulator = yield* Simulator.Simulator
      yield* TestClock.setTime(700)
      for (let step = 0; step < 150; step++) {
        yield* TestClock.adjust("260 millis")
        const caller = yield* Effect.fork(dataAccess.get("/data-access/consumers/42"))
        while (caller.unsafePoll() === null) {
          yield* TestServices.provideLive(Effect.sleep("2 millis"))
          yield* TestClock.adjust("1 millis")
        }
        assert.strictEqual((yield* Fiber.join(caller)).status, 200)
      }
      const rejections = (yield* simulator.received).filter(({ server }) => server === "Api").length - 150
      assert.strictEqual(rejections, 0)
      assert.isAtMost(yield* simulator.tokenRequests, 8)
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          DataAccess.layer(),
          simulated(AuthV2.layerConfig(), NodeHttpClient.layer, { tokenLifetime: "10 seconds", wholeSeconds: true })
        )
      )
    ))
})
