// A program that uses a store for six seconds, without a handler for unhandled rejections. Its arguments are the address, the
// kind of server, and the kind of connection.

import { TokenStore } from "@credit-data/fleet"
import { RedisTokenStore } from "@credit-data/store-redis"
import { Console, Duration, Effect, Layer, Redacted, Schedule } from "effect"
import { Cluster, Redis } from "ioredis"

const [, , url = "", kind = "", connection = ""] = process.argv

const { hostname: host, password, port, username } = new URL(url)
const sentinels = [{ host, port: Number(port) }]

/** A connection that the program has already. */
const client = () => {
  const redisOptions = { username, password, commandTimeout: 1_000, enableAutoPipelining: false }
  return kind === "cluster"
    ? new Cluster([{ host, port: Number(port) }], { redisOptions, enableOfflineQueue: false })
    : kind === "sentinels"
    ? new Redis({ ...redisOptions, name: "main", sentinels, retryStrategy: () => 100 })
    : new Redis(url, { ...redisOptions, retryStrategy: () => 100 })
}

const Store = connection === "program"
  ? Layer.suspend(() => RedisTokenStore.layerClient({ client: client().on("error", () => {}) }))
  : RedisTokenStore.layer({
    url: Redacted.make(kind === "sentinels" ? "redis://main" : url),
    cluster: kind === "cluster",
    sentinels: kind === "sentinels" ? sentinels : undefined,
    unencrypted: true
  })

const name = "0123456789abcdef".repeat(4)

Effect.gen(function*() {
  const store = yield* TokenStore.TokenStore
  const use = Effect.zipRight(
    Effect.ignore(store.read(name)),
    Effect.ignore(
      Effect.zipRight(
        store.takeLease(name, { owner: "a", seen: 0, duration: Duration.seconds(1) }),
        store.releaseLease(name, "a")
      )
    )
  )
  yield* Effect.retry(store.read(name), Schedule.spaced("20 millis")).pipe(Effect.timeoutOption("2 seconds"))
  yield* Console.log("ready")
  const uses = Array.from({ length: 5 }, () => Effect.repeat(use, Schedule.spaced("10 millis")))
  yield* Effect.timeoutOption(Effect.all(uses, { concurrency: "unbounded" }), "6 seconds")
  yield* Console.log("done")
}).pipe(
  Effect.provide(Store),
  Effect.runPromise
).then(() => process.exit(0), (error) => {
  console.error(error)
  process.exit(2)
})
