import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { SharedTokens } from "@credit-data/fleet"
import { Fault, Simulator } from "@credit-data/simulator"
import { RedisTokenStore } from "@credit-data/store-redis"
import { startRedis } from "@credit-data/test-support/redisServer"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"

/** Closes a supply that has the lease while its token request is under way. Returns the milliseconds. */
const closed = Effect.fnUntraced(function*(url: string, before: Effect.Effect<unknown> = Effect.void) {
  const { awaitReceived, failTokenRequests, tokenRequests } = yield* Simulator.Simulator
  yield* failTokenRequests(Fault.Silence())
  const scope = yield* Scope.make()
  const context = yield* Layer.build(
    SharedTokens.layer().pipe(
      Layer.provide(AuthV2.layerTokenEndpointConfig()),
      Layer.provide(RedisTokenStore.layer({ url: Redacted.make(url) })),
      Layer.provide([NodeHttpClient.layer, Simulator.layerConfigProvider]),
      Layer.provide(Logger.remove(Logger.defaultLogger))
    )
  ).pipe(Scope.extend(scope))
  const received = yield* tokenRequests
  yield* Effect.fork(AccessTokens.AccessTokens.pipe(Effect.flatMap(({ get }) => get), Effect.provide(context)))
  yield* awaitReceived("AuthV2", received + 1)
  yield* before
  const [elapsed] = yield* Effect.timed(Scope.close(scope, Exit.void))
  return Duration.toMillis(elapsed)
})

describe("a supply that closes during its token request", () => {
  it.scopedLive("gives the lease back before its store closes, so no process waits for it", () =>
    Effect.gen(function*() {
      const redis = yield* startRedis()
      yield* closed(redis.url)
      assert.strictEqual(yield* redis.command("DBSIZE"), ":0\r\n")
    }).pipe(Effect.provide(Simulator.layer())))

  it.scopedLive("closes within a second while Redis stands still", () =>
    Effect.gen(function*() {
      const redis = yield* startRedis()
      const close = closed(redis.url, redis.pause).pipe(Effect.tap(redis.resume), Effect.tap(redis.command("FLUSHALL")))
      // the shortest of three, because a busy machine only adds time
      assert.isBelow(Math.min(...yield* Effect.replicateEffect(close, 3)), 1_000)
    }).pipe(Effect.provide(Simulator.layer())), 30_000)
})
