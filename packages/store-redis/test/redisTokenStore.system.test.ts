import { StoreContract, TokenStore } from "@credit-data/fleet"
import { RedisTokenStore } from "@credit-data/store-redis"
import { makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { freePort, startRedis } from "@credit-data/test-support/redisServer"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Option, Redacted, Schedule } from "effect"
import { Redis } from "ioredis"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const name = "0123456789abcdef".repeat(4)
const key = (slot: string) => `credit-data:{${name}}:${slot}`
const duration = Duration.seconds(2)
const far = () => Date.now() + 3_600_000

/** A store on a server. */
const storeOf = (options: Omit<RedisTokenStore.Options, "url"> & { readonly url: string }) =>
  Effect.flatMap(
    Layer.build(RedisTokenStore.layer({ ...options, url: Redacted.make(options.url) })),
    (context) => Effect.provide(TokenStore.TokenStore, context)
  )

const publish = (store: TokenStore.Service, fence: number) =>
  store.publish(name, "Token", { bytes: new Uint8Array([fence]), fence, expiresAt: far() })
const token = (store: TokenStore.Service) =>
  Effect.map(store.read(name), ({ Token }) => Option.getOrUndefined(Option.map(Token, ({ bytes }) => bytes[0])))

/** A client of the test for the server of the store. */
const clientOf = (url: string) =>
  Effect.acquireRelease(Effect.sync(() => new Redis(url)), (redis) => Effect.sync(() => redis.disconnect()))

/** Takes the lease whatever the slots contain. */
const take = (store: TokenStore.Service, owner: string) =>
  Effect.map(
    store.takeLease(name, { owner, above: 0, seen: Number.MAX_SAFE_INTEGER, duration }),
    ({ lease }) => lease
  )

/** A server that speaks TLS only. */
const startTlsServer = Effect.gen(function*() {
  const { cert, key } = yield* makeCertificate({ host: "localhost", days: 30, authority: yield* makeAuthority })
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "redis-tls-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const files = { cert: join(directory, "cert.pem"), key: join(directory, "key.pem") }
  writeFileSync(files.cert, cert)
  writeFileSync(files.key, key)
  return yield* startRedis({
    tls: true,
    settings: [`tls-cert-file ${files.cert}`, `tls-key-file ${files.key}`, "tls-auth-clients no"]
  })
})

/** Both directions once: whether a store works. */
const works = Effect.fnUntraced(function*(store: TokenStore.Service) {
  const { fence } = Option.getOrThrow(yield* take(store, "a"))
  assert.isTrue(yield* store.renewLease(name, { owner: "a", duration }))
  assert.isTrue(yield* publish(store, fence))
  assert.strictEqual(yield* token(store), fence)
  yield* store.releaseLease(name, "a")
})

/** Retries while the connection is being established again. */
const eventually = <A, E>(effect: Effect.Effect<A, E>) =>
  effect.pipe(Effect.retry(Schedule.spaced("50 millis")), Effect.timeout("20 seconds"))

describe("the contract of stores", () => {
  for (const { check, name } of StoreContract.rules) {
    it.scopedLive(name, () =>
      Effect.gen(function*() {
        const { url } = yield* startRedis()
        yield* check({ store: yield* storeOf({ url }), pass: Effect.sleep })
      }))
  }
})

describe("a store on Redis", () => {
  it.scopedLive("keeps all keys of an entry under its prefix and one hash tag, with a time to live", () =>
    Effect.gen(function*() {
      const { url } = yield* startRedis()
      const redis = yield* clientOf(url)
      const store = yield* storeOf({ url, prefix: "app:" })
      yield* works(store)
      yield* store.publish(name, "Failure", { bytes: new Uint8Array(1), fence: 1, expiresAt: far() })
      yield* take(store, "a")
      const keys = (yield* Effect.promise(() => redis.keys("*"))).toSorted()
      assert.deepStrictEqual(keys, ["failure", "fence", "lease", "token"].map((slot) => `app:{${name}}:${slot}`))
      for (const key of keys) assert.isAbove(yield* Effect.promise(() => redis.pttl(key)), 0)
    }))

  it.scopedLive("counts a value that is not its own as absent, and replaces it", () =>
    Effect.gen(function*() {
      const { url } = yield* startRedis()
      const redis = yield* clientOf(url)
      const store = yield* storeOf({ url })
      const spoil: ReadonlyArray<(key: string) => Promise<unknown>> = [
        (key) => redis.set(key, "garbage", "PX", 60_000),
        (key) => redis.set(key, "", "PX", 60_000),
        (key) => redis.set(key, ":", "PX", 60_000),
        (key) => redis.set(key, "9".repeat(400), "PX", 60_000),
        (key) => redis.set(key, `${"9".repeat(30)}:x`, "PX", 60_000),
        (key) => redis.set(key, "0x10:hexadecimal", "PX", 60_000),
        (key) => redis.set(key, " 1 :blanks", "PX", 60_000),
        (key) => redis.set(key, "1e0:an exponent", "PX", 60_000),
        (key) => redis.set(key, "007:zeros", "PX", 60_000),
        (key) => redis.set(key, "5:without a time to live"),
        (key) => redis.hset(key, "field", "value"),
        (key) => redis.lpush(key, "value"),
        (key) => redis.set(key, `5:${"x".repeat(300_000)}`, "PX", 60_000)
      ]
      for (const each of spoil) {
        for (const slot of ["token", "failure", "fence", "lease"]) {
          yield* Effect.promise(() => redis.flushall())
          yield* Effect.promise(() => each(key(slot)))
          const slots = yield* store.read(name)
          assert.isTrue(Option.isNone(slots.Token) && Option.isNone(slots.Failure), `${each} ${slot}`)
          // a string with a time to live is a lease of someone else
          if (slot === "lease" && (yield* Effect.promise(() => redis.pttl(key(slot)))) > 0) {
            yield* Effect.promise(() => redis.pexpire(key(slot), 1))
            yield* Effect.sleep("5 millis")
          }
          yield* works(store)
        }
      }
    }))

  it.scopedLive("uses the program's connection, and leaves it open", () =>
    Effect.gen(function*() {
      const { url } = yield* startRedis()
      const client = yield* clientOf(url)
      const before = [client.listenerCount("error"), client.listenerCount("ready")]
      const Store = RedisTokenStore.layerClient({ client, prefix: "app:" })
      yield* Effect.scoped(
        Effect.flatMap(Layer.build(Store), (context) => works(Context.get(context, TokenStore.TokenStore)))
      )
      assert.strictEqual(client.status, "ready")
      assert.deepStrictEqual([client.listenerCount("error"), client.listenerCount("ready")], before)
      const lazy = yield* Effect.acquireRelease(
        Effect.sync(() => new Redis(url, { lazyConnect: true })),
        (client) => Effect.sync(() => client.disconnect())
      )
      yield* Effect.scoped(
        Effect.flatMap(
          Layer.build(RedisTokenStore.layerClient({ client: lazy })),
          (context) => works(Context.get(context, TokenStore.TokenStore))
        )
      )
      assert.includeMembers(yield* Effect.promise(() => client.keys("app:*")), [`app:{${name}}:token`])
      const error = yield* Effect.flip(
        Effect.scoped(Layer.build(RedisTokenStore.layerClient({ client, prefix: "{app}" })))
      )
      assert.match(String(error), /prefix.*Expected text without braces/)
    }))

  it.scopedLive("takes a lease that would never end", () =>
    Effect.gen(function*() {
      const { url } = yield* startRedis()
      const redis = yield* clientOf(url)
      yield* Effect.promise(() => redis.set(key("lease"), "someone", "PX", 3_600_000))
      yield* works(yield* storeOf({ url }))
    }))

  it.scopedLive("needs only the permissions in acl.conf", () =>
    Effect.gen(function*() {
      const { pathname } = new URL("../acl.conf", import.meta.url)
      const { port } = yield* startRedis({ settings: [`aclfile ${pathname}`] })
      const url = `redis://credit-data:change-me@127.0.0.1:${port}`
      yield* works(yield* storeOf({ url }))
      // and no keys of others
      const other = yield* storeOf({ url, prefix: "other:" })
      const error = yield* Effect.flip(publish(other, 1))
      assert.deepStrictEqual([error.reason, error.code], ["Refused", "NOPERM"])
      const redis = yield* clientOf(url)
      for (const command of [["keys", "*"], ["flushall"], ["config", "get", "*"], ["monitor"], ["acl", "list"]]) {
        const [first = "", ...args] = command
        const exit = yield* Effect.exit(Effect.tryPromise(() => redis.call(first, ...args)))
        assert.strictEqual(exit._tag, "Failure", first)
      }
    }))

  it.scopedLive("reports why there is no connection, and what to do", () =>
    Effect.gen(function*() {
      const guarded = yield* startRedis({ settings: ["requirepass right"] })
      const full = yield* startRedis({ settings: ["maxclients 1"] })
      const only = yield* clientOf(full.url)
      yield* Effect.promise(() => only.ping())
      const gone = yield* startRedis()
      yield* gone.kill
      const withoutEval = yield* startRedis({ settings: ["rename-command EVAL \"\""] })
      const withoutSlots = yield* startRedis({ settings: ["cluster-enabled yes", `cluster-port ${yield* freePort}`] })
      const withTls = yield* startTlsServer
      const rows: ReadonlyArray<readonly [url: string, code: RegExp, hint: RegExp]> = [
        [guarded.url.replace("redis://", "redis://default:wrong@"), /^WRONGPASS$/, /password/],
        [guarded.url, /^NOAUTH$/, /password/],
        [gone.url, /^ECONNREFUSED$/, /Nothing listens/],
        ["redis://nowhere.invalid:6379", /^(ENOTFOUND|EAI_AGAIN)$/, /does not resolve/],
        [full.url, /^(MAXCLIENTS|EPIPE|ECONNRESET|CLOSED)$/, /maxclients/],
        [withTls.url.replace("rediss://", "redis://"), /^(EPIPE|ECONNRESET|CLOSED)$/, /whether its port expects TLS/],
        [gone.url.replace("redis://", "rediss://"), /^ECONNREFUSED$/, /Nothing listens/],
        [
          guarded.url.replace("redis://", "rediss://:right@"),
          /^(ERR_SSL_|EPROTO|ETIMEDOUT)/,
          /needs redis:/
        ],
        [withoutEval.url, /^UNKNOWN$/, /lacks a command/],
        [withoutSlots.url, /^CLUSTERDOWN$/, /Redis cluster is not complete/]
      ]
      for (const [url, code, hint] of rows) {
        const store = yield* storeOf({ url, unencrypted: true })
        // the driver connects again and again, and gets the cause in one of the attempts
        const error = yield* Effect.flip(store.read(name)).pipe(
          Effect.filterOrFail((error) => code.test(error.code), (error) => error),
          Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 })
        )
        assert.match(error.hint ?? "", hint)
      }
    }), 120_000)

  it.scopedLive("reports why the server refuses, by its code only", () =>
    Effect.gen(function*() {
      const { command, url } = yield* startRedis()
      const store = yield* storeOf({ url })
      yield* works(store)
      yield* command("CONFIG SET maxmemory 1")
      const full = yield* Effect.flip(take(store, "b"))
      assert.deepStrictEqual([full.reason, full.code], ["Refused", "OOM"])
      yield* command("CONFIG SET maxmemory 0")
      yield* command("REPLICAOF 127.0.0.1 1")
      const replica = yield* Effect.flip(take(store, "b"))
      assert.deepStrictEqual([replica.reason, replica.code], ["Refused", "READONLY"])
      yield* command("REPLICAOF NO ONE")
      yield* eventually(works(store))
    }))

  it.scopedLive("fails at once while the server is unavailable, and works when it is back", () =>
    Effect.gen(function*() {
      const { kill, restart, url } = yield* startRedis()
      const store = yield* storeOf({ url })
      yield* works(store)
      yield* kill
      // the first operation may find the connection open
      yield* Effect.ignore(token(store))
      yield* Effect.sleep("50 millis")
      const [elapsed, error] = yield* Effect.timed(Effect.flip(token(store)))
      assert.strictEqual(error.reason, "Unavailable")
      assert.isBelow(Duration.toMillis(elapsed), 500)
      yield* restart
      yield* eventually(works(store))
    }))

  it.scopedLive("fails within its time-out when the server stands still", () =>
    Effect.gen(function*() {
      const { pause, url } = yield* startRedis()
      const store = yield* storeOf({ url })
      yield* works(store)
      yield* pause
      const [elapsed, error] = yield* Effect.timed(Effect.flip(token(store)))
      assert.strictEqual(error.reason, "Timeout")
      assert.isBelow(Duration.toMillis(elapsed), 4_000)
    }))

  it.scopedLive("keeps a value no longer than it lives, when the server stood still before it was written", () =>
    Effect.gen(function*() {
      const { pause, resume, url } = yield* startRedis()
      const store = yield* storeOf({ url })
      yield* works(store)
      const lease = Option.getOrThrow(yield* take(store, "b"))
      yield* pause
      const expiresAt = lease.takenAt + 800
      yield* Effect.exit(store.publish(name, "Token", { bytes: new Uint8Array(1), fence: lease.fence, expiresAt }))
      yield* Effect.sleep("400 millis")
      yield* resume
      assert.isUndefined(yield* eventually(token(store)))
    }))

  it.scopedLive("closes within a second, even when the server stands still or is unavailable", () =>
    Effect.gen(function*() {
      for (const fault of ["none", "pause", "kill"] as const) {
        const server = yield* startRedis()
        const [elapsed] = yield* Effect.scoped(Effect.gen(function*() {
          yield* works(yield* storeOf({ url: server.url }))
          if (fault !== "none") yield* server[fault]
        })).pipe(Effect.timed)
        assert.isBelow(Duration.toMillis(elapsed), 1_500, fault)
      }
    }))
})
