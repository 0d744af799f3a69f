import { StoreContract } from "@credit-data/fleet"
import { describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import * as Memory from "../src/internal/memory.ts"

describe("a store in memory", () => {
  for (const { check, name } of StoreContract.rules) {
    it.effect(name, () => Effect.flatMap(Memory.make, (store) => check({ store, pass: TestClock.adjust })))
  }
})
