import { TokenStore } from "@credit-data/fleet"
import { RedisTokenStore } from "@credit-data/store-redis"
import { makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { startRedis } from "@credit-data/test-support/redisServer"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Fiber, Layer, Option, Redacted, Schedule } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventually, moveSlot, startCluster } from "./support/cluster.ts"

const name = "0123456789abcdef".repeat(4)
const duration = Duration.seconds(2)

const storeOf = ({ url, ...options }: Omit<RedisTokenStore.Options, "url"> & {
  readonly url: string | Effect.Effect<string>
}) =>
  Effect.flatMap(
    Layer.build(RedisTokenStore.layer({
      ...options,
      url: Effect.isEffect(url) ? Effect.map(url, Redacted.make) : Redacted.make(url)
    })),
    (context) => Effect.provide(TokenStore.TokenStore, context)
  )

/** Writes and reads a token under a new lease, and returns its fence. */
const write = Effect.fnUntraced(function*(store: TokenStore.Service, seen = 1e14, entry = name) {
  const taken = yield* store.takeLease(entry, { owner: "a", seen, duration })
  assert.isTrue(taken.isTaken)
  const fence = Math.max(taken.now, seen) + 1
  yield* store.publish(entry, { bytes: new Uint8Array([1]), fence, expiresAt: taken.now + 3_600_000, owner: "a" })
  const { value } = yield* store.read(entry)
  assert.strictEqual(Option.getOrThrow(value).fence, fence)
  return fence
})

const folder = Effect.sync(() => mkdtempSync(join(tmpdir(), "redis-tls-")))

describe("Redis with TLS", () => {
  it.scopedLive("works with a certificate of a trusted authority, and with no other", () =>
    Effect.gen(function*() {
      const authority = yield* makeAuthority
      const { cert, key } = yield* makeCertificate({ host: "localhost", days: 30, authority })
      const directory = yield* folder
      const files = {
        cert: join(directory, "cert.pem"),
        key: join(directory, "key.pem"),
        ca: join(directory, "ca.pem")
      }
      writeFileSync(files.cert, cert)
      writeFileSync(files.key, key)
      writeFileSync(files.ca, authority.cert)
      const { port } = yield* startRedis({
        tls: true,
        settings: [
          `tls-cert-file ${files.cert}`,
          `tls-key-file ${files.key}`,
          `tls-ca-cert-file ${files.ca}`,
          "tls-auth-clients no",
          "requirepass a-password"
        ]
      })
      const url = `rediss://:a-password@localhost:${port}`
      yield* eventually(write(yield* storeOf({ url, tls: { ca: authority.cert } })))
      const other = yield* storeOf({ url, tls: { ca: (yield* makeAuthority).cert } })
      const error = yield* Effect.flip(other.read(name))
      assert.strictEqual(error.reason, "Unavailable")
      assert.match(error.hint ?? error.code, /The Redis certificate is not trusted/)
    }))
})

describe("Redis with sentinels", () => {
  it.scopedLive("continues with the promoted replica", () =>
    Effect.gen(function*() {
      const master = yield* startRedis()
      yield* startRedis({ settings: [`replicaof 127.0.0.1 ${master.port}`, "repl-diskless-sync-delay 0"] })
      const sentinel = yield* startRedis({
        sentinel: true,
        settings: [
          `sentinel monitor main 127.0.0.1 ${master.port} 1`,
          "sentinel down-after-milliseconds main 500",
          "sentinel failover-timeout main 2000"
        ]
      })
      const store = yield* storeOf({
        url: "redis://main",
        sentinels: [{ host: "127.0.0.1", port: sentinel.port }],
        unencrypted: true
      })
      const before = yield* eventually(write(store))
      // the sentinel has found the replica
      yield* eventually(Effect.filterOrFail(
        sentinel.command("SENTINEL REPLICAS main"),
        (output) => output.includes("master-link-status") && output.includes("\r\nok\r\n")
      ))
      yield* master.kill
      const after = yield* eventually(write(store, before))
      assert.isAbove(after, before)
    }), 60_000)
})

describe("a cluster of Redis", () => {
  it.scopedLive("keeps each entry on one of its nodes", () =>
    Effect.gen(function*() {
      const { nodes, url } = yield* startCluster
      const store = yield* storeOf({ url, cluster: true, unencrypted: true })
      for (let index = 0; index < 20; index++) {
        yield* eventually(write(store, 1e14, index.toString(16).padStart(64, "0")))
      }
      const sizes = yield* Effect.forEach(nodes, (node) => node.command("DBSIZE"))
      assert.lengthOf(sizes.filter((size) => size !== ":0\r\n"), 3, sizes.join())
    }), 60_000)

  it.scopedLive("gets the next password for all nodes when the present one is rejected", () =>
    Effect.gen(function*() {
      const { nodes, url } = yield* startCluster
      let current = url
      const store = yield* storeOf({ url: Effect.sync(() => current), cluster: true, unencrypted: true })
      const names = Array.from({ length: 20 }, (_, index) => index.toString(16).padStart(64, "0"))
      const all = eventually(Effect.forEach(names, (name) => store.read(name)))
      yield* all
      for (const node of nodes) {
        yield* node.command("ACL SETUSER credit-data resetpass >second")
        yield* node.command("CLIENT KILL USER credit-data")
      }
      yield* Effect.flip(store.read(name)).pipe(
        Effect.filterOrFail(({ code }) => code === "WRONGPASS"),
        Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 })
      )
      current = url.replace("change-me", "second")
      yield* all
    }), 60_000)

  it.scopedLive("continues with an entry whose slot moves to another node under load", () =>
    Effect.gen(function*() {
      const { nodes, url } = yield* startCluster
      const store = yield* storeOf({ url, cluster: true, unencrypted: true })
      const before = yield* eventually(write(store))
      const { begin, end, source, target } = yield* moveSlot(nodes, name)

      const fences: Array<number> = [before]
      const codes = new Set<string>()
      const load = yield* Effect.fork(Effect.forever(
        Effect.suspend(() => write(store, fences.at(-1))).pipe(
          Effect.map((fence) => fences.push(fence)),
          Effect.catchAll(({ code }) => Effect.sync(() => codes.add(code))),
          // another owner may have the lease that an operation left behind
          Effect.catchAllDefect(() => Effect.void),
          Effect.zipRight(Effect.sleep("5 millis"))
        )
      ))
      const written = (count: number) =>
        eventually(Effect.filterOrFail(Effect.sync(() => fences.length), (length) => length >= count))
      yield* written(20)
      yield* begin
      for (const kind of ["value", "lease"]) {
        yield* source.command(`MIGRATE 127.0.0.1 ${target.port} credit-data:{${name}}:${kind} 0 1000 REPLACE`)
        yield* Effect.sleep("50 millis")
      }
      yield* end
      yield* written(fences.length + 20)
      yield* Fiber.interrupt(load)
      assert.deepStrictEqual(fences, fences.toSorted((a, b) => a - b))
      assert.strictEqual(new Set(fences).size, fences.length)
      assert.deepStrictEqual(Array.from(codes).filter((code) => !["TRYAGAIN", "ASK", "MOVED"].includes(code)), [])
      assert.notStrictEqual(yield* target.command("DBSIZE"), ":0\r\n")
    }), 60_000)
})

describe("the options of a store on Redis", () => {
  const build = (options: Omit<RedisTokenStore.Options, "url"> & { readonly url: string }) =>
    Effect.scoped(Effect.asVoid(storeOf(options)))
  const problem = (options: Parameters<typeof build>[0]) => Effect.map(Effect.flip(build(options)), String)

  it.effect("a malformed address is refused, and the error does not show it", () =>
    Effect.gen(function*() {
      for (
        const url of ["", "a-canary", "http://a-canary.example", "redis://", "unix:///a-canary", "redis://h/a-canary"]
      ) {
        const error = yield* problem({ url })
        assert.match(error, /url/)
        assert.notInclude(error, "canary")
      }
    }))

  it.effect("a host that is not this machine needs TLS", () =>
    Effect.gen(function*() {
      assert.include(yield* problem({ url: "redis://redis.example" }), "Expected rediss:// for a host")
      assert.include(
        yield* problem({ url: "redis://localhost", sentinels: [{ host: "redis.example", port: 1 }] }),
        "Expected rediss:// for a host"
      )
      for (const more of [{ cluster: true }, { sentinels: [{ host: "localhost", port: 1 }] }]) {
        assert.include(yield* problem({ url: "redis://localhost", ...more }), "Expected rediss:// for a host")
        yield* build({ url: "redis://localhost:1", unencrypted: true, ...more })
      }
      yield* build({ url: "redis://redis.example.invalid", unencrypted: true })
      for (const host of ["localhost", "127.0.0.1", "[::1]"]) yield* build({ url: `redis://${host}:1` })
      yield* build({ url: "rediss://redis.example.invalid" })
    }))

  it.effect("an option that would be ignored is refused", () =>
    Effect.gen(function*() {
      const url = "redis://localhost"
      assert.include(yield* problem({ url, tls: {} }), "Expected rediss:// for the settings of TLS")
      assert.include(yield* problem({ url: "rediss://localhost/1", cluster: true }), "Expected no database")
      assert.include(yield* problem({ url, prefix: "{a}:" }), "Expected text without braces")
      assert.include(yield* problem({ url: "redis://user:100%sure@localhost" }), "to be written as %25")
    }))

  it.effect("a cluster has no sentinels", () =>
    Effect.gen(function*() {
      const error = yield* problem({ url: "redis://localhost", cluster: true, sentinels: [] })
      assert.include(error, "Expected either a cluster or sentinels")
    }))

  it.effect("layerConfig reads the address from CREDIT_DATA_REDIS_URL, and names the variable when it is wrong", () =>
    Effect.gen(function*() {
      const withUrl = (url: ReadonlyArray<readonly [string, string]>) =>
        Layer.build(RedisTokenStore.layerConfig()).pipe(
          Effect.scoped,
          Effect.withConfigProvider(ConfigProvider.fromMap(new Map(url)))
        )
      yield* withUrl([["CREDIT_DATA_REDIS_URL", "redis://localhost:1"]])
      for (const url of [[], [["CREDIT_DATA_REDIS_URL", "a-canary"]]] as const) {
        const error = String(yield* Effect.flip(withUrl(url)))
        assert.include(error, "CREDIT_DATA_REDIS_URL")
        assert.include(error, "rediss://user:password@redis.example:6379")
        assert.notInclude(error, "canary")
      }
    }))
})
