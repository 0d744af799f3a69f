import { TokenStore } from "@credit-data/fleet"
import { RedisTokenStore } from "@credit-data/store-redis"
import { startRedis } from "@credit-data/test-support/redisServer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { readFileSync } from "node:fs"

const pathOf = (path: string) => new URL(`../../../${path}`, import.meta.url).pathname
const compose = readFileSync(pathOf("examples/compose.yaml"), "utf8")
const page = readFileSync(pathOf("docs/fleet.md"), "utf8")

describe("compose.yaml", () => {
  it.scopedLive("starts a Redis that the address in the documentation can use, and no other user", () =>
    Effect.gen(function*() {
      const [, command = ""] = /command: redis-server (.*)/.exec(compose) ?? []
      const [, source = "", target = ""] = /- \.\.\/(\S+):(\S+):ro/.exec(compose) ?? []
      const settings = command.replace(target, pathOf(source)).split(/ ?--/).filter((setting) => setting !== "")
      const redis = yield* startRedis({ settings })
      const [, address = ""] = /CREDIT_DATA_REDIS_URL='(.+)'/.exec(page) ?? []
      const url = address.replace("localhost:6379", `127.0.0.1:${redis.port}`)
      const context = yield* Layer.build(RedisTokenStore.layer({ url: Redacted.make(url) }))
      const store = yield* Effect.provide(TokenStore.TokenStore, context)
      yield* store.read("a".repeat(64))
      assert.include(yield* redis.command("GET x"), "NOAUTH")
    }))
})
