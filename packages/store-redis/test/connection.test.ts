import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Redacted } from "effect"
import { Cluster, Redis } from "ioredis"
import { make } from "../src/internal/connection.ts"
import { layer, type Options } from "../src/RedisTokenStore.ts"

// What the driver is configured with. Nothing listens on port 1, and no name below is looked up: the connection is closed at
// once.

const connected = (url: string, more: Omit<Options, "url"> = {}) =>
  Effect.map(make({ url: Redacted.make(url), ...more }), (client) => {
    client.disconnect()
    return client
  })

const single = (url: string, more: Omit<Options, "url"> = {}) =>
  Effect.map(connected(url, more), (client) => {
    assert.instanceOf(client, Redis)
    return client instanceof Redis ? client.options : assert.fail()
  })

const refused = (url: string, more: Omit<Options, "url"> = {}) =>
  Effect.map(Effect.flip(Effect.scoped(make({ url: Redacted.make(url), ...more }))), String)

const behind = { unencrypted: true }

describe("a connection to Redis", () => {
  it.scoped("has the settings in its address", () =>
    Effect.gen(function*() {
      const all = yield* single("redis://us%65r:pa%3Ass@localhost:1/7")
      assert.deepInclude(all, { host: "localhost", port: 1, db: 7, username: "user", password: "pa:ss" })
      const least = yield* single("redis://localhost")
      assert.deepInclude(least, { host: "localhost", port: 6379, db: 0 })
      assert.notOk(least.username)
      assert.notOk(least.password)
      assert.notOk(least.tls)
      assert.strictEqual((yield* single("redis://localhost:1/")).db, 0)
      assert.strictEqual((yield* single("redis://[::1]:1")).host, "::1")
    }))

  it.scoped("uses TLS for rediss, with the program's settings", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* single("rediss://localhost:1")).tls, {})
      assert.deepStrictEqual((yield* single("rediss://localhost:1", { tls: { servername: "a" } })).tls, {
        servername: "a"
      })
    }))

  it.scoped("fails at once while there is no connection, and finds a new master", () =>
    Effect.gen(function*() {
      const { autoResendUnfulfilledCommands, enableOfflineQueue, enableReadyCheck, reconnectOnError, retryStrategy } =
        yield* single("redis://localhost:1")
      assert.deepStrictEqual(
        { autoResendUnfulfilledCommands, enableOfflineQueue, enableReadyCheck },
        { autoResendUnfulfilledCommands: false, enableOfflineQueue: false, enableReadyCheck: false }
      )
      assert.isTrue(reconnectOnError?.(new Error("READONLY You can't write against a read only replica.")))
      assert.isFalse(reconnectOnError?.(new Error("ERR READONLY")))
      assert.deepStrictEqual([1, 3, 10, 100].map((times) => retryStrategy?.(times)), [200, 600, 2_000, 2_000])
    }))

  it.scoped("of sentinels requests the master from them, and checks its role", () =>
    Effect.gen(function*() {
      const sentinels = [{ host: "127.0.0.1", port: 1 }, { host: "127.0.0.1", port: 2 }]
      const plain = yield* single("redis://mymaster/3", { sentinels, ...behind })
      assert.deepInclude(plain, { name: "mymaster", db: 3, sentinels, enableReadyCheck: true })
      assert.notOk(plain.sentinelPassword)
      assert.notOk(plain.sentinelTLS)
      assert.isNotTrue(plain.enableTLSForSentinelMode)
      const safe = yield* single("rediss://mymaster", { sentinels, sentinelPassword: Redacted.make("a password") })
      assert.deepInclude(safe, { sentinelPassword: "a password", sentinelTLS: {}, enableTLSForSentinelMode: true })
      const own = yield* single("rediss://mymaster", { sentinels, tls: { servername: "a" } })
      assert.deepStrictEqual(own.sentinelTLS, { servername: "a" })
    }))

  it.scoped("of a cluster has the same settings for each of its nodes", () =>
    Effect.gen(function*() {
      const client = yield* connected("redis://user:pass@localhost:1", { cluster: true, ...behind })
      assert.instanceOf(client, Cluster)
      if (!(client instanceof Cluster)) return
      assert.strictEqual(client.options.enableOfflineQueue, false)
      assert.deepInclude<object | undefined>(client.options.redisOptions, {
        username: "user",
        password: "pass",
        enableOfflineQueue: false
      })
      assert.deepStrictEqual(
        [1, 3, 10, 100].map((times) => client.options.clusterRetryStrategy?.(times)),
        [200, 600, 2_000, 2_000]
      )
      yield* connected("redis://localhost:1/", { cluster: true, ...behind })
    }))

  it.scoped("is not made for an address with another path, or for a host that only looks local", () =>
    Effect.gen(function*() {
      for (const path of ["/a", "/1a", "/1/2"]) {
        assert.include(yield* refused(`redis://localhost${path}`), "Expected a database number as the path")
      }
      for (const host of ["localhost.example", "127.0.0.1.example", "my-localhost", "x127.0.0.1"]) {
        assert.include(yield* refused(`redis://${host}`), "Expected rediss:// for a host", host)
      }
      assert.include(yield* refused("redis://"), "Expected a Redis address")
    }))

  it.scoped("is made for each ConfigProvider from which its address is read", () =>
    Effect.gen(function*() {
      const read: Array<string> = []
      const url = Effect.map(Config.string("ADDRESS"), (address) => {
        read.push(address)
        return Redacted.make(address)
      })
      const Store = layer({ url })
      const memoMap = yield* Layer.makeMemoMap
      const scope = yield* Effect.scope
      const addresses = ["redis://localhost:1/1", "redis://localhost:1/2"]
      for (const address of addresses) {
        yield* Layer.buildWithMemoMap(Store, memoMap, scope).pipe(
          Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["ADDRESS", address]])))
        )
      }
      assert.deepStrictEqual(read, addresses)
    }))
})
