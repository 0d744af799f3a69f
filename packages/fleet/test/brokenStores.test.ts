import * as StoreContract from "@credit-data/fleet/StoreContract"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, TestClock } from "effect"
import { brokenStores } from "./support/brokenStores.ts"
import { makeMemory } from "./support/fleet.ts"
import { setUp, textOf } from "./support/virtualFleet.ts"

const hour = 3_600_000

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

  it.effect("fails no caller and returns no expired token, at the price of more token requests", () =>
    Effect.gen(function*() {
      const { ask, fleet, now, pass, server } = yield* setUp({ size: 4, store: broken })
      const sentAt: Array<number> = []
      server.server.respond = () => {
        sentAt.push(now())
        return {}
      }
      for (let round = 0; round < 24; round++) {
        for (const outcome of yield* ask(fleet, 25_000)) {
          assert.isTrue(Exit.isSuccess(outcome))
          assert.isBelow(now() - (sentAt[Number(textOf(outcome).slice("token-".length)) - 1] ?? 0), hour + 25_000)
        }
        yield* pass(hour / 6 - 25_000)
      }
      // without a store, each process would send one for each lifetime, and each renews it early
      assert.isAtMost(server.server.requests, 4 * 6)
    }))
})
