// A program that uses a store on a cluster, and calls with tokens that are shared over it, without a handler for unhandled rejections. Its
// arguments are the address of a node, the major version of ioredis, and the time in milliseconds.

import { AccessTokens, Adapter } from "@credit-data/core"
import { SharedTokens, TokenStore } from "@credit-data/fleet"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Console, Duration, Effect, Layer, Logger, Redacted, Schedule } from "effect"
import * as five from "ioredis"
import * as six from "ioredis-6"

const prototypes = [five.Redis, five.Cluster, six.Redis, six.Cluster].map(({ prototype }) => prototype)
const methods = () => prototypes.flatMap((prototype) => Object.values(Object.getOwnPropertyDescriptors(prototype)))
const before = methods().map(({ value }) => value)
const { RedisTokenStore } = await import("@credit-data/store-redis")
const isChanged = methods().some(({ value }, index) => value !== before[index])
console.log(isChanged ? "ioredis was changed by an import" : "ioredis is as before")

const [, , url = "", version = "", millis = ""] = process.argv
const { hostname: host, password, port, username } = new URL(url)
const nodes = [{ host, port: Number(port) }]
const settings = {
  enableOfflineQueue: false,
  redisOptions: { username, password, socketTimeout: 1_000, connectTimeout: 1_000, maxRetriesPerRequest: 0 }
}

const Store = Layer.suspend(() => {
  const client = version === "6" ? new six.Cluster(nodes, settings) : new five.Cluster(nodes, settings)
  return RedisTokenStore.layerClient({ client })
})

const Endpoint = Adapter.make({
  version: "V2",
  path: "/oauth2/token",
  field: "authV2Url",
  variable: "CREDIT_DATA_AUTH_V2_URL",
  description: "the address",
  example: "https://v2.example",
  scopes: true
}).layerTokenEndpoint({
  environment: {
    name: "test",
    audience: "audience",
    baseUrl: "https://api.example",
    authV2Url: "https://v2.example"
  },
  credentials: Effect.succeed({
    clientId: "the-client",
    clientSecret: Redacted.make("a client secret of at least 32 characters")
  }),
  scopes: ["data-access:all"]
}).pipe(Layer.provide(Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) =>
    Effect.sync(() => {
      const body = { access_token: crypto.randomUUID(), token_type: "Bearer", expires_in: 2, scope: "data-access:all" }
      return HttpClientResponse.fromWeb(request, new Response(JSON.stringify(body)))
    })
  )
)))

const name = "0123456789abcdef".repeat(4)

Effect.gen(function*() {
  const store = yield* TokenStore.TokenStore
  const tokens = yield* AccessTokens.AccessTokens
  const lease = Effect.zipRight(
    store.takeLease(name, { owner: "a", seen: 0, duration: Duration.seconds(1) }),
    store.releaseLease(name, "a")
  )
  const use = Effect.zipRight(Effect.ignore(store.read(name)), Effect.ignore(lease))
  let calls = 0
  let failed = 0
  const call = Effect.map(Effect.exit(tokens.get), ({ _tag }) => {
    calls++
    if (_tag === "Failure") failed++
  })
  yield* Effect.retry(store.read(name), Schedule.spaced("20 millis")).pipe(Effect.timeoutOption("2 seconds"))
  yield* Console.log("ready")
  const all = [call, ...Array.from({ length: 5 }, () => use)].map(Effect.repeat(Schedule.spaced("10 millis")))
  yield* Effect.timeoutOption(Effect.all(all, { concurrency: "unbounded" }), Duration.millis(Number(millis)))
  yield* Console.log(`done: ${calls > 0 ? "some" : "no"} calls, ${failed} failed`)
}).pipe(
  Effect.provide(
    Layer.provideMerge(Layer.provide(SharedTokens.layer(), Endpoint), Store).pipe(
      Layer.provideMerge(Logger.remove(Logger.defaultLogger))
    )
  ),
  Effect.runPromise
).then(() => process.exit(0), (error) => {
  console.error(error)
  process.exit(2)
})
