import { type StoreEngine, TokenStore } from "@credit-data/fleet"
import * as StoreContract from "@credit-data/fleet/StoreContract"
import { RedisTokenStore } from "@credit-data/store-redis"
import { freePorts } from "@credit-data/test-support/freePorts"
import { startRedis } from "@credit-data/test-support/redisServer"
import { relay } from "@credit-data/test-support/relay"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Duration, Effect, Exit, Layer, Option, Redacted, Schedule, Scope } from "effect"
import { Redis, type RedisOptions } from "ioredis"
import { Redis as Redis6 } from "ioredis-6"
import { connect } from "node:net"
import { settingsOf } from "../src/internal/redisAddress.ts"
import { acl, moveSlot, startCluster } from "./support/cluster.ts"
import { recipes } from "./support/recipes.ts"
import { serverOf } from "./support/server.ts"
import { duration, eventually, name, publish, storeOf, storeOver, take, token, works } from "./support/store.ts"
import { makeLocalhost, writeCertificate } from "./support/tls.ts"

const key = (slot: string) => `credit-data:{${name}}:${slot}`

/** A client of the test for the server of the store. */
const clientOf = (url: string) =>
  Effect.acquireRelease(Effect.sync(() => new Redis(url)), (redis) => Effect.sync(() => redis.disconnect()))

/** A connection of the program with other settings. */
const clients: Readonly<Record<string, RedisOptions>> = {
  "enableAutoPipelining": { enableAutoPipelining: true },
  "stringNumbers": { stringNumbers: true },
  "keyPrefix": { keyPrefix: "credit-data:app:" },
  "all of these": { enableAutoPipelining: true, stringNumbers: true, keyPrefix: "credit-data:{app}:" }
}

describe("the contract of stores is kept", { concurrent: true }, () => {
  const isKept = (store: StoreEngine.Service) =>
    Effect.forEach(StoreContract.rules, ({ check }) => check({ store, pass: Effect.sleep }), {
      concurrency: "unbounded"
    })

  it.scopedLive("over the connection of the store", () =>
    Effect.gen(function*() {
      const { url } = yield* startRedis()
      yield* isKept(yield* storeOf({ url }))
    }))

  it.scopedLive("over a client of another version of ioredis", () =>
    Effect.gen(function*() {
      const { port } = yield* startRedis({ settings: acl })
      const url = new URL(`redis://credit-data:change-me@127.0.0.1:${port}`)
      yield* isKept(yield* storeOver(() => new Redis6({ ...settingsOf(url), Connector: undefined })))
    }))

  for (const [settings, options] of Object.entries(clients)) {
    it.scopedLive(`over a connection with ${settings}`, () =>
      Effect.gen(function*() {
        const { pathname } = new URL("../acl.conf", import.meta.url)
        const { port } = yield* startRedis({ settings: [`aclfile ${pathname}`] })
        const client = yield* Effect.acquireRelease(
          Effect.sync(() => new Redis({ port, username: "credit-data", password: "change-me", ...options })),
          (client) => Effect.sync(() => client.disconnect())
        )
        const context = yield* Layer.build(RedisTokenStore.layerClient({ client }))
        yield* isKept(Context.get(context, TokenStore.TokenStore))
      }))
  }
})

describe("a reply of another shape", () => {
  it.scopedLive("is a fault", () =>
    Effect.gen(function*() {
      const value = "$3\r\n5:x\r\n"
      const replies = [
        ":1\r\n",
        "$-1\r\n",
        "*0\r\n",
        `*2\r\n${value}$1\r\n7\r\n`,
        `*4\r\n${value}$1\r\n7\r\n$1\r\n1\r\n$-1\r\n`,
        `*3\r\n${value}$2\r\n-5\r\n$1\r\n1\r\n`,
        `*3\r\n${value}$3\r\nNaN\r\n$1\r\n1\r\n`,
        `*3\r\n${value}$17\r\n12345678901234567\r\n$1\r\n1\r\n`,
        `*3\r\n${value}$-1\r\n$1\r\n1\r\n`,
        `*3\r\n${value}$1\r\n7\r\n$1\r\n2\r\n`,
        `*3\r\n${value}$1\r\n7\r\n$-1\r\n`,
        `*3\r\n*1\r\n${value}$1\r\n7\r\n$1\r\n1\r\n`,
        "*3\r\n$3\r\n0:x\r\n$1\r\n7\r\n$1\r\n1\r\n",
        "*3\r\n$17\r\n1234567890123456:\r\n$1\r\n7\r\n$1\r\n1\r\n",
        "+OK\r\n"
      ]
      for (const reply of replies) {
        const { url } = yield* serverOf(reply)
        const store = yield* storeOf({ url })
        const results = [
          store.read(name),
          store.takeLease(name, { owner: "a", seen: 0, duration }),
          store.releaseLease(name, "a"),
          publish(store, 1)
        ]
        for (const [index, result] of results.entries()) {
          const error = yield* Effect.flip(result)
          assert.deepStrictEqual([error.reason, error.code], ["Refused", "REPLY"], JSON.stringify([index, reply]))
        }
      }
      const { url } = yield* serverOf(`*3\r\n${value}$1\r\n7\r\n$1\r\n1\r\n`)
      assert.strictEqual(yield* token(yield* storeOf({ url })), 5)
    }))
})

describe("a store on Redis", () => {
  it.scopedLive("keeps all keys of an entry under its prefix and one hash tag, with a time to live", () =>
    Effect.gen(function*() {
      const { url } = yield* startRedis()
      const redis = yield* clientOf(url)
      const store = yield* storeOf({ url, prefix: "app:" })
      yield* works(store)
      yield* take(store, "a")
      const keys = (yield* Effect.promise(() => redis.keys("*"))).toSorted()
      assert.deepStrictEqual(keys, ["lease", "value"].map((slot) => `app:{${name}}:${slot}`))
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
        for (const slot of ["value", "lease"]) {
          yield* Effect.promise(() => redis.flushall())
          yield* Effect.promise(() => each(key(slot)))
          assert.isUndefined(yield* token(store), `${each} ${slot}`)
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
      assert.includeMembers(yield* Effect.promise(() => client.keys("app:*")), [`app:{${name}}:value`])
      const error = yield* Effect.flip(
        Effect.scoped(Layer.build(RedisTokenStore.layerClient({ client, prefix: "{app}" })))
      )
      assert.match(String(error), /prefix.*Expected /)
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

  it.scopedLive("names the command that a user may not run, whatever the operation needs it for", () =>
    Effect.gen(function*() {
      const { command, port } = yield* startRedis({
        settings: acl
      })
      const store = yield* storeOf({ url: `redis://credit-data:change-me@127.0.0.1:${port}` })
      yield* works(store)
      const uses = Effect.all([
        token(store),
        take(store, "a"),
        publish(store, Date.now() + 1_000),
        store.releaseLease(name, "a")
      ])
      for (const each of ["get", "set", "time", "del", "pttl", "evalsha"]) {
        yield* command(`ACL SETUSER credit-data -${each}`)
        const error = yield* Effect.flip(uses)
        assert.deepStrictEqual([error.reason, error.code], ["Refused", "NOPERM"], each)
        assert.include(error.hint, `may not run ${each}:`)
        yield* command(`ACL SETUSER credit-data +${each}`)
        yield* eventually(store.releaseLease(name, "a"))
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
      const withoutSlots = yield* startRedis({
        settings: ["cluster-enabled yes", `cluster-port ${yield* freePorts(1)}`]
      })
      const certificate = yield* makeLocalhost
      const certificateSettings = yield* writeCertificate(certificate)
      const withTls = yield* startRedis({ tls: true, settings: [...certificateSettings, "tls-auth-clients no"] })
      const forClients = yield* startRedis({ tls: true, settings: certificateSettings })
      const tls = { ca: certificate.authority.cert }
      const lonely = yield* startRedis({ settings: ["min-replicas-to-write 1"] })
      const orphaned = yield* startRedis({ settings: ["replicaof 127.0.0.1 1", "replica-serve-stale-data no"] })
      const busy = yield* startRedis({ settings: ["busy-reply-threshold 100"] })
      yield* Effect.acquireRelease(
        Effect.sync(() => connect(busy.port, "127.0.0.1").on("error", () => {})),
        (socket) => Effect.sync(() => socket.destroy())
      ).pipe(Effect.map((socket) => socket.write("EVAL \"while true do end\" 0\r\n")))
      // a node without the slot of the entry
      const { target } = yield* moveSlot((yield* startCluster()).nodes, name)
      const rows: ReadonlyArray<
        readonly [url: string, code: RegExp, hint: RegExp, tls?: RedisTokenStore.Options["tls"]]
      > = [
        [guarded.url.replace("redis://", "redis://default:wrong@"), /^WRONGPASS$/, /password/],
        [guarded.url, /^NOAUTH$/, /password/],
        [gone.url, /^ECONNREFUSED$/, /Nothing listens/],
        ["redis://nowhere.invalid:6379", /^(ENOTFOUND|EAI_AGAIN)$/, /does not resolve/],
        [full.url, /^MAXCLIENTS$/, /raise maxclients/],
        [withTls.url.replace("rediss://", "redis://"), /^(EPIPE|ECONNRESET|CLOSED)$/, /whether its port expects TLS/],
        [forClients.url.replace("127.0.0.1", "localhost"), /^ERR_SSL_.*CERT/, /requires a certificate of its/, tls],
        [gone.url.replace("redis://", "rediss://"), /^ECONNREFUSED$/, /Nothing listens/],
        [guarded.url.replace("redis://", "rediss://:right@"), /^(ERR_SSL_|EPROTO|ETIMEDOUT)/, /needs redis:/],
        [withoutEval.url, /^UNKNOWN$/, /lacks a command/],
        [withoutSlots.url, /^CLUSTERDOWN$/, /Redis cluster is not complete/],
        [`redis://credit-data:change-me@127.0.0.1:${target.port}`, /^MOVED$/, /pass a Cluster of ioredis/],
        [lonely.url, /^NOREPLICAS$/, /too few replicas/],
        [orphaned.url, /^MASTERDOWN$/, /is a replica/],
        [busy.url, /^BUSY$/, /SCRIPT KILL/]
      ]
      for (const [url, code, hint, tls] of rows) {
        const store = yield* storeOf({ url, unencrypted: true, tls })
        // the driver connects again and again, and gets the cause in one of the attempts
        const error = yield* Effect.flip(take(store, "a")).pipe(
          Effect.filterOrFail((error) => code.test(error.code), (error) => error),
          Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 })
        )
        assert.match(error.hint ?? "", hint)
      }
    }), 120_000)

  it.scopedLive("reads the address again when its password is rejected", () =>
    Effect.gen(function*() {
      const { command, kill, port, restart } = yield* startRedis({ settings: ["user app on >first ~* +@all"] })
      const address = (password: string) => `redis://app:${password}@127.0.0.1:${port}`
      let url = address("first")
      const variables = () => ConfigProvider.fromMap(new Map([["CREDIT_DATA_REDIS_URL", url]]))
      const configured = yield* Layer.build(RedisTokenStore.layerConfig()).pipe(
        Effect.withConfigProvider(ConfigProvider.orElse(ConfigProvider.fromMap(new Map()), variables))
      )
      const built = yield* Layer.build(RedisTokenStore.layer({ url: Effect.sync(() => Redacted.make(url)) }))
      const stores = [configured, built].map((context) => Context.get(context, TokenStore.TokenStore))
      for (const store of stores) yield* eventually(works(store))
      yield* kill
      yield* restart
      yield* command("ACL SETUSER app resetpass >second")
      yield* command("CLIENT KILL USER app")
      for (const store of stores) {
        yield* Effect.flip(store.read(name)).pipe(
          Effect.filterOrFail(({ code }) => code === "WRONGPASS"),
          Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 })
        )
      }
      url = address("second")
      for (const store of stores) yield* eventually(works(store))
    }), 30_000)

  it.scopedLive("uses the password that its server has begun to require", () =>
    Effect.gen(function*() {
      const { command, port } = yield* startRedis()
      let url = `redis://127.0.0.1:${port}`
      const password = { current: "" }
      const ofClients = yield* Effect.forEach(
        Object.values(recipes),
        ({ withPassword }) => storeOver(() => withPassword(() => password.current, { host: "127.0.0.1", port }))
      )
      const stores = [yield* storeOf({ url: Effect.sync(() => url) }), ...ofClients]
      for (const store of stores) yield* eventually(works(store))
      // the driver connects again, to a server that accepts the connection and then no command
      yield* command("CONFIG SET requirepass second\r\nCLIENT KILL TYPE normal")
      const refused = (store: StoreEngine.Service) =>
        Effect.filterOrFail(Effect.flip(store.read(name)), ({ code }) => code === "NOAUTH")
      // operations all the time, so that no connection is idle
      yield* Effect.forEach(
        stores,
        (store) =>
          Effect.retry(refused(store), { schedule: Schedule.spaced("20 millis"), times: 500 }).pipe(
            Effect.zipRight(
              Effect.repeat(Effect.flip(store.read(name)), { schedule: Schedule.spaced("100 millis"), times: 15 })
            )
          ),
        { concurrency: "unbounded" }
      )
      url = `redis://default:second@127.0.0.1:${port}`
      password.current = "second"
      yield* Effect.forEach(
        stores,
        (store) => Effect.retry(store.read(name), { schedule: Schedule.spaced("100 millis"), times: 80 }),
        { concurrency: "unbounded" }
      )
    }), 30_000)

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

  const connections: Readonly<Record<string, (url: string) => ReturnType<typeof storeOf>>> = {
    "its own connection": (url) => storeOf({ url }),
    "a client of ioredis 6": (url) => storeOver(() => new Redis6({ ...settingsOf(new URL(url)), Connector: undefined }))
  }
  for (const [connection, storeAt] of Object.entries(connections)) {
    it.scopedLive(
      `works again within 5 s of a failover behind its address, over ${connection}`,
      () =>
        Effect.gen(function*() {
          const [master, replica] = [yield* startRedis(), yield* startRedis()]
          const address = yield* relay(master.port)
          const store = yield* storeAt(`redis://127.0.0.1:${address.port}`)
          yield* eventually(works(store))
          yield* replica.command(`REPLICAOF 127.0.0.1 ${master.port}`)
          yield* eventually(
            Effect.filterOrFail(replica.command("ROLE"), (role) => role.includes("connected"))
          )
          // the connection leads to the demoted server, and new ones to the new master
          yield* replica.command("REPLICAOF NO ONE")
          yield* master.command(`REPLICAOF 127.0.0.1 ${replica.port}`)
          yield* address.leadTo(replica.port)
          const { code } = yield* Effect.flip(take(store, "b"))
          assert.strictEqual(code, "READONLY")
          const [elapsed] = yield* Effect.timed(eventually(works(store)))
          assert.isBelow(Duration.toMillis(elapsed), 5_000)
          assert.notStrictEqual(yield* replica.command("DBSIZE"), ":0\r\n")
        }),
      60_000
    )

    it.scopedLive(
      `works again within 5 s when nothing passes on a connection any more, over ${connection}`,
      () =>
        Effect.gen(function*() {
          const { port } = yield* startRedis()
          const address = yield* relay(port)
          const store = yield* storeAt(`redis://127.0.0.1:${address.port}`)
          yield* eventually(works(store))
          yield* address.freeze
          // a token request waits no longer for the store
          const brief = Effect.timeoutFail(take(store, "b"), { duration: "600 millis", onTimeout: () => "too late" })
          assert.strictEqual(yield* Effect.flip(brief), "too late")
          const [elapsed] = yield* Effect.timed(Effect.retry(brief, Schedule.spaced("100 millis")))
          assert.isBelow(Duration.toMillis(elapsed), 5_000)
        }),
      60_000
    )

    it.scopedLive(
      `fails at once with the code of a connection that is cut, over ${connection}`,
      () =>
        Effect.gen(function*() {
          const { pause, port } = yield* startRedis()
          const address = yield* relay(port)
          const store = yield* storeAt(`redis://127.0.0.1:${address.port}`)
          yield* eventually(works(store))
          yield* pause
          const [elapsed, [error]] = yield* Effect.timed(
            Effect.all([Effect.flip(take(store, "b")), Effect.delay(address.cut, "100 millis")], { concurrency: 2 })
          )
          assert.strictEqual(error.reason, "Unavailable")
          assert.match(error.code, /^(ECONNRESET|EPIPE|CLOSED)$/)
          assert.isBelow(Duration.toMillis(elapsed), 1_000)
        }),
      60_000
    )
  }

  it.scopedLive("keeps a value no longer than it lives, when the server stood still before it was written", () =>
    Effect.gen(function*() {
      const { pause, resume, url } = yield* startRedis()
      const store = yield* storeOf({ url })
      yield* works(store)
      const lease = Option.getOrThrow(yield* take(store, "b"))
      yield* pause
      const expiresAt = lease.now + 800
      yield* Effect.exit(store.publish(name, { bytes: new Uint8Array(1), fence: lease.fence, expiresAt, owner: "b" }))
      yield* Effect.sleep("400 millis")
      yield* resume
      assert.isUndefined(yield* eventually(token(store)))
    }))

  it.scopedLive("closes within a second, even when the server stands still or is unavailable", () =>
    Effect.gen(function*() {
      for (const fault of ["none", "pause", "kill"] as const) {
        const server = yield* startRedis()
        const scope = yield* Scope.make()
        yield* works(yield* Scope.extend(storeOf({ url: server.url }), scope))
        if (fault !== "none") yield* server[fault]
        const [elapsed] = yield* Effect.timed(Scope.close(scope, Exit.void))
        // a second, and what a busy machine needs
        assert.isBelow(Duration.toMillis(elapsed), 6_000, fault)
      }
    }))
})
