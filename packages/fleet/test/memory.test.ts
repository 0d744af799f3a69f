import * as StoreContract from "@credit-data/fleet/StoreContract"
import { describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { makeMemory } from "./support/fleet.ts"

describe("a store in memory", () => {
  for (const { check, name } of StoreContract.rules) {
    it.effect(name, () => Effect.flatMap(makeMemory, (store) => check({ store, pass: TestClock.adjust })))
  }
})
