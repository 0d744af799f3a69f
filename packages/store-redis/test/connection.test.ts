import { TokenStore } from "@credit-data/fleet"
import { run, script } from "@credit-data/test-support/childProcess"
import { fiberLocal } from "@credit-data/test-support/fiberLocal"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Context, Effect, Layer, Redacted } from "effect"
import { Cluster } from "ioredis"
import { EventEmitter } from "node:events"
import { fileURLToPath } from "node:url"
import { runInNewContext } from "node:vm"
import { codeOf, replyError as storeReplyError, storeError } from "../src/internal/causes.ts"
import { settingsOf } from "../src/internal/redisAddress.ts"
import { layer, layerClient, layerConfig, type Options } from "../src/RedisTokenStore.ts"

// Nothing listens on port 1, and no name below is looked up: the connection is closed at once.

const optionsOf = (url: string, tls?: Options["tls"]) => settingsOf(new URL(url), tls)

const build = (options: Omit<Options, "url"> & { readonly url: string }) =>
  Effect.scoped(Layer.build(layer({ ...options, url: Redacted.make(options.url) })))

const refused = (options: Parameters<typeof build>[0]) => Effect.map(Effect.flip(build(options)), String)

describe("a connection to Redis", () => {
  it("has the settings in its address", () => {
    const all = optionsOf("redis://us%65r:pa%3Ass@localhost:1/7")
    assert.deepInclude(all, { host: "localhost", port: 1, db: 7, username: "user", password: "pa:ss" })
    const least = optionsOf("redis://localhost")
    assert.deepInclude(least, { host: "localhost", port: 6379, db: 0 })
    assert.notProperty(least, "username")
    assert.notProperty(least, "password")
    assert.notOk(least.tls)
    assert.strictEqual(optionsOf("redis://localhost:1/").db, 0)
    assert.strictEqual(optionsOf("redis://[::1]:1").host, "::1")
  })

  it("uses TLS for rediss, with the program's settings", () => {
    assert.deepStrictEqual(optionsOf("rediss://localhost:1").tls, {})
    assert.deepStrictEqual((optionsOf("rediss://localhost:1", { servername: "a" })).tls, { servername: "a" })
  })

  it("neither waits nor repeats an operation, and connects again when its server has become a replica or requires a password", () => {
    const { enableOfflineQueue, enableReadyCheck, maxRetriesPerRequest, reconnectOnError } = optionsOf(
      "redis://localhost"
    )
    assert.deepStrictEqual([enableOfflineQueue, enableReadyCheck, maxRetriesPerRequest], [false, false, 0])
    const reply = (message: string) => reconnectOnError?.(Object.assign(new Error(message), { name: "ReplyError" }))
    const replies = [
      reply("READONLY You can't write"),
      reply("NOAUTH Authentication required."),
      reply("OOM command not allowed")
    ]
    assert.deepStrictEqual(replies, [true, true, false])
  })

  it("is tried again after a time that grows to two seconds", () => {
    const { retryStrategy } = optionsOf("redis://localhost:1")
    assert.deepStrictEqual([1, 3, 10, 100].map((times) => retryStrategy?.(times)), [200, 600, 2_000, 2_000])
  })

  it.scoped("has an address without the fiber-local values of the use that built the store", () => {
    const tenant = fiberLocal("redis://localhost:1")
    const store = layer({ url: Effect.map(tenant.get, Redacted.make) })
    // the address of a tenant would be refused
    return Layer.build(store).pipe(tenant.locally("the address of a tenant"))
  })

  it.live("that Redis refuses is not tried again after its scope, so the process ends", () =>
    Effect.gen(function*() {
      const program = fileURLToPath(new URL("support/unavailable.ts", import.meta.url))
      const { exitCode, stderr, stdout } = yield* Effect.timeout(run(script(program)), "30 seconds")
      assert.deepStrictEqual([stderr, stdout, exitCode], ["", "ECONNREFUSED\n", 0])
    }), 40_000)

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

describe("the options of a store on Redis", () => {
  it.effect("a malformed address is refused, and the error does not show it", () =>
    Effect.gen(function*() {
      for (
        const url of ["", "a-canary", "http://a-canary.example", "redis://", "unix:///a-canary", "redis://h/a-canary"]
      ) {
        const error = yield* refused({ url })
        assert.match(error, /url/)
        assert.notInclude(error, "canary")
      }
      for (const url of ["xredis://localhost", "redisx://localhost", "redis:///1"]) {
        assert.include(yield* refused({ url }), "Expected a Redis address")
      }
      for (const path of ["/a", "/1a", "/1/2"]) {
        assert.include(yield* refused({ url: `redis://localhost${path}` }), "Expected a database number as the path")
      }
    }))

  it.effect("a password that must be encoded is refused, because its beginning would be taken for the host", () =>
    Effect.gen(function*() {
      for (const url of ["redis://localhost:1#canary@redis.example", "rediss://user:12?canary@redis.example:6379"]) {
        const error = yield* refused({ url })
        assert.include(error, "Expected each # and ? in the user name or the password to be written as %23 and %3F")
        assert.notInclude(error, "canary")
      }
      for (const password of ["100%sure", "1%1z"]) {
        assert.include(yield* refused({ url: `redis://user:${password}@localhost` }), "to be written as %25")
      }
      assert.include(
        yield* refused({ url: "redis://localhost:1/canary@redis.example" }),
        "each / in the password as %2F"
      )
    }))

  it.effect("a host that is not this machine needs TLS", () =>
    Effect.gen(function*() {
      const hosts = ["redis.example", "localhost.example", "127.0.0.1.example", "my-localhost", "x127.0.0.1"]
      for (const host of hosts) {
        assert.include(yield* refused({ url: `redis://${host}` }), "Expected rediss:// for a host", host)
      }
      yield* build({ url: "redis://redis.example.invalid", unencrypted: true })
      for (const host of ["localhost", "127.0.0.1", "127.10.20.30", "[::1]"]) yield* build({ url: `redis://${host}:1` })
      yield* build({ url: "rediss://redis.example.invalid" })
    }))

  it.effect("an option that would be ignored is refused", () =>
    Effect.gen(function*() {
      const url = "redis://localhost"
      assert.include(yield* refused({ url, tls: {} }), "Expected rediss:// for the settings of TLS")
      assert.include(yield* refused({ url, prefix: "{a}:" }), "Expected text without braces")
    }))

  it.effect("layerConfig reads the address from CREDIT_DATA_REDIS_URL, and names the variable when it is wrong", () =>
    Effect.gen(function*() {
      const withUrl = (url: ReadonlyArray<readonly [string, string]>) =>
        Layer.build(layerConfig()).pipe(
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

describe("a client that only looks like one of ioredis", () => {
  it.effect("cannot be used, and each operation reports that", () =>
    Effect.gen(function*() {
      // as ioredis-mock, which has no status and no commands for bytes
      const client = Object.assign(new EventEmitter(), { defineCommand: () => {}, status: "ready" })
      const context = yield* Layer.build(layerClient({ client }))
      const { code, reason } = yield* Effect.flip(Context.get(context, TokenStore.TokenStore).read("a".repeat(64)))
      assert.deepStrictEqual({ code, reason }, { code: "REPLY", reason: "Refused" })
    }).pipe(Effect.scoped))
})

it.effect("the program's client has no listener of a store that has ended", () =>
  Effect.gen(function*() {
    const client = Object.assign(new EventEmitter(), { defineCommand: () => {}, status: "ready" })
    yield* Effect.scoped(Layer.build(layerClient({ client })))
    assert.deepStrictEqual(client.eventNames(), [])
  }))

describe("the nodes of a cluster", () => {
  it.scoped("drop no rejected promise, those at the start and those that are found later", () =>
    Effect.gen(function*() {
      const nodes = Array.from({ length: 2 }, () => ({ asking: () => Promise.reject(new Error("closed")) }))
      const [first, later] = nodes
      const [without, text] = [{}, { asking: "no function" }]
      const cluster = Object.assign(new EventEmitter(), {
        defineCommand: () => {},
        status: "ready",
        nodes: () => [first, without, text]
      })
      const unhandled: Array<unknown> = []
      const listener = (error: unknown) => void unhandled.push(error)
      process.on("unhandledRejection", listener)
      yield* Layer.build(layerClient({ client: cluster }))
      const once = first?.asking
      yield* Layer.build(layerClient({ client: cluster }))
      assert.strictEqual(first?.asking, once)
      assert.deepStrictEqual([without, text], [{}, { asking: "no function" }])
      cluster.emit("+node", later)
      for (const node of nodes) void node.asking()
      const sent = yield* Effect.promise(() => Promise.allSettled(nodes.map((node) => node.asking())))
      assert.deepStrictEqual(sent.map(({ status }) => status), ["rejected", "rejected"])
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
      process.off("unhandledRejection", listener)
      assert.deepStrictEqual(unhandled, [])
    }))

  it.scoped("can be those of a subclass of Cluster", () =>
    Effect.gen(function*() {
      class Own extends Cluster {}
      const client = new Own([{ host: "127.0.0.1", port: 1 }], { lazyConnect: true })
      yield* Layer.build(layerClient({ client }))
      client.disconnect()
    }))
})

describe("the code of an error", () => {
  const replyError = (message: string) => Object.assign(new Error(message), { name: "ReplyError" })

  it("is the first word of a Redis error, or the word that a script has put others before", () => {
    const codes = ["READONLY", "NOREPLICAS", "MASTERDOWN", "OOM"]
    for (const code of codes) {
      assert.strictEqual(codeOf(replyError(`${code} A text.`)), code)
      assert.strictEqual(codeOf(replyError(`ERR Error running script: @user_script: 12: ${code} A text.`)), code)
    }
    assert.strictEqual(codeOf(replyError("MOVED 866 127.0.0.1:7001")), "MOVED")
    assert.strictEqual(codeOf(replyError("a text")), "ERR")
    assert.strictEqual(codeOf(replyError("a TEXT")), "ERR")
  })

  it("is that of a cause with a text of its own, and unknown for any other error", () => {
    assert.strictEqual(codeOf(replyError("ERR max number of clients reached")), "MAXCLIENTS")
    assert.strictEqual(codeOf(replyError("ERR unknown command 'EVALSHA'")), "UNKNOWN")
    assert.strictEqual(codeOf(replyError("ERR syntax, not ERR unknown command")), "ERR")
    assert.strictEqual(codeOf(new Error("Command timed out")), "Timeout")
    assert.strictEqual(codeOf(new Error("Socket timeout. Expecting data")), "Timeout")
    for (const other of [new Error("The Command timed out"), {}, undefined]) assert.isUndefined(codeOf(other))
    assert.strictEqual(storeReplyError({}).code, "ERR")
    assert.notProperty({ ...storeError("Refused", "unheard of") }, "hint")
    const forbidden = replyError("NOPERM User a has no permissions to run the 'evalsha' command")
    assert.include(storeReplyError(forbidden).hint, "may not run evalsha")
  })

  it("is found in an error of another realm", () => {
    const error: unknown = runInNewContext("Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })")
    assert.notInstanceOf(error, Error)
    assert.strictEqual(codeOf(error), "ECONNREFUSED")
  })

  it("has advice, whatever the code is that Redis returns when something is set up wrongly", () => {
    for (const code of ["MOVED", "ASK", "BUSY", "NOREPLICAS", "ERR", "MASTERDOWN", "READONLY"]) {
      assert.isDefined(storeError("Refused", code).hint, code)
    }
  })
})
