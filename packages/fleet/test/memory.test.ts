import { StoreContract, TokenStore } from "@credit-data/fleet"
import { describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"

describe("a store in memory", () => {
  for (const { check, name } of StoreContract.rules) {
    it.effect(name, () => Effect.flatMap(TokenStore.makeMemory, (store) => check({ store, pass: TestClock.adjust })))
  }
})
