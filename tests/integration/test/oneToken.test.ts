import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess, EnablementServices, Furnishment } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { whileTimePasses } from "@credit-data/test-support/whileTimePasses"
import { runs } from "@credit-data/test-support/searches"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Config, Effect, Layer, Logger, TestClock } from "effect"
import { simulated } from "../src/simulated.ts"

const quiet = Logger.remove(Logger.defaultLogger)

const supply = (settings?: Simulator.Settings) => simulated(AuthV2.layerConfig(), NodeHttpClient.layer, settings)
const withDataAccess = (settings?: Simulator.Settings) => Layer.provideMerge(DataAccess.layer(), supply(settings))

/** The status of a call of Data Access. */
const status = Effect.map(
  Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42")),
  ({ status }) => status
)

const together = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.all(Arr.makeBy(count, () => effect), { concurrency: "unbounded" })

const callers = runs(10_000).numRuns

describe("one token request per token lifetime", () => {
  it.effect(`${callers} cold callers of a real server cause one token request`, () =>
    Effect.gen(function*() {
      const { tokenRequests } = yield* Simulator.Simulator
      const { get } = yield* AccessTokens.AccessTokens
      assert.strictEqual(new Set(yield* together(callers, get)).size, 1)
      assert.strictEqual(yield* tokenRequests, 1)
    }).pipe(Effect.provide(supply())))

  it.effect(`${callers} cold callers of a server that refuses the client cause one token request`, () =>
    Effect.gen(function*() {
      const { failTokenRequests, tokenRequests } = yield* Simulator.Simulator
      const { get } = yield* AccessTokens.AccessTokens
      yield* failTokenRequests(Fault.oauthError(401, "invalid_client"), { times: 100 })
      const failures = yield* together(callers, Effect.flip(get))
      assert.deepStrictEqual([...new Set(failures.map(({ _tag }) => _tag))], ["InvalidClient"])
      assert.strictEqual(yield* tokenRequests, 1)
    }).pipe(Effect.provide(supply())))

  const calls = Effect.all([
    Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42")),
    Effect.flatMap(Furnishment.Furnishment, (client) => client.get("/furnishment/submissions/7")),
    Effect.flatMap(EnablementServices.EnablementServices, (client) => client.get("/enablement-services/offers/1"))
  ], { concurrency: "unbounded" })

  for (const [version, auth] of [["V1", AuthV1.layerConfig()], ["V2", AuthV2.layerConfig()]] as const) {
    it.effect(`${version}: three groups share one token, and its renewal neither fails a call nor sends one twice`, () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        for (let round = 0; round < 24; round++) {
          assert.deepStrictEqual((yield* calls).map(({ status }) => status), [200, 200, 200])
          yield* TestClock.adjust("2 hours")
        }
        const received = yield* simulator.received
        const requests = received.filter(({ server }) => server === `Auth${version}`)
        assert.strictEqual(requests.length, 3, "token requests in two days")
        assert.strictEqual(received.length, requests.length + 24 * 3, "no call was made twice")
      }).pipe(Effect.provide(
        Layer.mergeAll(DataAccess.layer(), Furnishment.layer(), EnablementServices.layer()).pipe(
          Layer.provideMerge(simulated(auth, NodeHttpClient.layer)),
          Layer.provide(quiet)
        )
      )))
  }

  it.effect("two supplies in one program never mix their tokens: Data Access over V1, Furnishment over V2", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const furnishment = yield* Furnishment.Furnishment
      const statusOf = (path: string) => Effect.map(furnishment.get(path), ({ status }) => status)
      for (let round = 0; round < 3; round++) {
        assert.strictEqual(yield* status, 200)
        assert.strictEqual(yield* statusOf("/furnishment/submissions/7"), 200)
        assert.strictEqual(yield* statusOf("/data-access/consumers/42"), 403, "V2's token covers only Furnishment")
      }
      const servers = (yield* simulator.received).map(({ server }) => server).filter((server) => server !== "Api")
      assert.deepStrictEqual(servers.toSorted(), ["AuthV1", "AuthV2"])
    }).pipe(Effect.provide(
      Layer.merge(
        DataAccess.layer().pipe(Layer.provide(AuthV1.layerConfig())),
        Furnishment.layer().pipe(Layer.provide(AuthV2.layerConfig({ scopes: Config.succeed(["furnishment:all"]) })))
      ).pipe(
        Layer.provide([NodeHttpClient.layer, Simulator.layerConfigProvider]),
        Layer.provideMerge(Simulator.layer()),
        Layer.provide(quiet)
      )
    )))

  it.effect("100 calls that are rejected at the same time cause one renewal, and all of them succeed", () =>
    Effect.gen(function*() {
      const { revokeTokens, tokenRequests } = yield* Simulator.Simulator
      assert.strictEqual(yield* status, 200)
      yield* revokeTokens
      assert.deepStrictEqual([...new Set(yield* together(100, status))], [200])
      assert.strictEqual(yield* tokenRequests, 2)
    }).pipe(Effect.provide(withDataAccess())))

  it.effect("an API that rejects every token causes one renewal, and its callers get the 401", () =>
    Effect.gen(function*() {
      const { failCalls, tokenRequests } = yield* Simulator.Simulator
      yield* failCalls(Fault.Response({ status: 401 }), { times: 1_000 })
      for (let round = 0; round < 20; round++) assert.strictEqual(yield* status, 401)
      assert.strictEqual(yield* tokenRequests, 2)
    }).pipe(Effect.provide(withDataAccess())))

  it.effect("tokens of 10 s never get a 401, although the server rounds their instants down to whole seconds", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* TestClock.setTime(700)
      for (let step = 0; step < 80; step++) {
        yield* TestClock.adjust("260 millis")
        assert.strictEqual(yield* whileTimePasses(status, { stepMillis: 1 }), 200)
      }
      const calls = (yield* simulator.received).filter(({ server }) => server === "Api")
      assert.strictEqual(calls.length, 80, "no call was rejected and sent again")
      assert.isAtMost(yield* simulator.tokenRequests, 4)
    }).pipe(Effect.provide(withDataAccess({ tokenLifetime: "10 seconds", wholeSeconds: true }))))
})
