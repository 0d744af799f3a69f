import * as StoreContract from "@credit-data/fleet/StoreContract"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { brokenStores } from "./support/brokenStores.ts"
import { makeMemory } from "./support/fleet.ts"

describe.each(Object.entries(brokenStores))("a store in which %s", (_, { broken, rule }) => {
  it.effect("is named by the contract", () =>
    Effect.gen(function*() {
      const errors = yield* Effect.forEach(StoreContract.rules, ({ check }) =>
        Effect.gen(function*() {
          const store = broken(yield* makeMemory)
          return yield* Effect.match(check({ store, pass: TestClock.adjust }), {
            onFailure: (error) => structuredClone(error).message,
            onSuccess: () => ""
          })
        }))
      assert.lengthOf(errors.filter((error) => error.includes(`The store breaks the rule "${rule}". Expected: `)), 1)
    }))
})
