import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "../src/twoTokens/run.ts"
import { worlds } from "../src/twoTokens/table.ts"

describe.concurrent("20 minutes of calls to an API that", () => {
  for (const [name, { api, cold, options, warm }] of Object.entries(worlds)) {
    for (const [start, isCold, bounds] of [["renewed", false, warm], ["cold", true, cold]] as const) {
      const kinds = [["", {}], [", with streams", { isStream: true }], [", with two processes", {
        processes: 2
      }]] as const
      for (const [kind, more] of kinds) {
        const isStream = "isStream" in more
        it.live(`${name}, ${start}${kind}`, () =>
          Effect.gen(function*() {
            const result = yield* run(api, { ...options, ...more, seconds: 1_200, isCold })
            const seen = JSON.stringify(result)
            assert.strictEqual(result.expired, 0, seen)
            assert.isAtMost(result.failing, isStream ? bounds.failingStreams : bounds.failing, seen)
            assert.isAtMost(result.requests, bounds.requests, seen)
          }), 600_000)
      }
    }
  }
})
