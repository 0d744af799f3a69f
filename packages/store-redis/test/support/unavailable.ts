// Uses a store whose Redis does not run, and closes it. Then nothing is left to do.

import { TokenStore } from "@credit-data/fleet"
import { RedisTokenStore } from "@credit-data/store-redis"
import { Effect, Redacted } from "effect"

void Effect.flatMap(TokenStore.TokenStore, ({ read }) => Effect.flip(read("0".repeat(64)))).pipe(
  Effect.provide(RedisTokenStore.layer({ url: Redacted.make("redis://127.0.0.1:1") })),
  Effect.runPromise
).then(({ code }) => {
  console.log(code)
})
