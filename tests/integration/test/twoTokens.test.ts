import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "../src/twoTokens/run.ts"
import { worlds } from "../src/twoTokens/table.ts"

/** Which of the long runs are repeated here, for how long, and how many calls fail at most. */
const rows: ReadonlyArray<
  readonly [name: string, options: Parameters<typeof run>[1], failing: number, requests: number]
> = [
  ["accepts a token after 31 s", { seconds: 100 }, 0, 2],
  ["accepts a token after 31 s", { seconds: 100, isStream: true }, 3, 2],
  ["accepts a token after 31 s", { seconds: 70, isCold: true }, 623, 3],
  ["revokes all tokens", { seconds: 175 }, 0, 3],
  ["refuses one path", { seconds: 100, processes: 2 }, 100, 5]
]

describe.concurrent("calls to an API that", () => {
  for (const [name, options, failing, requests] of rows) {
    it.live(`${name} ${JSON.stringify(options)}`, () =>
      Effect.gen(function*() {
        const world = worlds[name]
        assert(world !== undefined)
        const result = yield* run(world.api, { ...world.options, ...options })
        const seen = JSON.stringify(result)
        assert.strictEqual(result.expired, 0, seen)
        assert.isAtMost(result.failing, failing, seen)
        assert.isAtMost(result.requests, requests, seen)
      }), 120_000)
  }
})
