import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "../src/twoTokens/run.ts"
import { worlds } from "../src/twoTokens/table.ts"

/**
 * A bound is exact only if it is 0. Otherwise, the order of events at one instant may cost a quarter of a second, and so may the wait of a
 * process for its next look at the store, where another one has put the token.
 */
const withMargin = (bound: number) => bound === 0 ? 0 : bound + 5

/** A fleet shares a failure for a second, so a process whose first pause is shorter pauses once more: 1.5 s of 20 calls a second. */
const secondPause = 31

describe.concurrent("calls for some minutes to an API that", () => {
  for (const [name, { api, cold, options, seconds = 240, warm }] of Object.entries(worlds)) {
    for (const [start, isCold, bounds] of [["renewed", false, warm], ["cold", true, cold]] as const) {
      const kinds = [["", {}], [", with streams", { isStream: true }], [", with two processes", {
        processes: 2
      }]] as const
      for (const [kind, more] of kinds) {
        const isStream = "isStream" in more
        const waits = options?.failsOnce === true && "processes" in more ? secondPause : 0
        it.live(`${name}, ${start}${kind}`, () =>
          Effect.gen(function*() {
            const result = yield* run(api, { ...options, ...more, seconds, isCold })
            const seen = JSON.stringify(result)
            assert.strictEqual(result.expired, 0, seen)
            assert.isAtMost(result.failing, withMargin(isStream ? bounds.failingStreams : bounds.failing) + waits, seen)
            assert.isAtMost(result.requests, bounds.requests, seen)
          }), 600_000)
      }
    }
  }
})
