import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "../src/twoTokens/run.ts"
import { worlds } from "../src/twoTokens/table.ts"

const seconds = 240

/** Which of the long runs are repeated here, and how many calls fail at most in four minutes. */
const rows: ReadonlyArray<
  readonly [name: string, options: Partial<Parameters<typeof run>[1]>, failing: number, requests: number]
> = [
  ["accepts a token after 31 s", {}, 0, 2],
  ["accepts a token after 31 s", { isStream: true }, 3, 2],
  ["accepts a token after 31 s", { isCold: true }, 623, 3],
  ["revokes all tokens", {}, 0, 3],
  ["refuses one path", {}, seconds, 9],
  ["refuses one path", { processes: 2 }, seconds, 9]
]

describe.concurrent("four minutes of calls to an API that", () => {
  for (const [name, options, failing, requests] of rows) {
    it.live(`${name} ${JSON.stringify(options)}`, () =>
      Effect.gen(function*() {
        const world = worlds[name]
        assert(world !== undefined)
        const result = yield* run(world.api, { ...world.options, ...options, seconds })
        const seen = JSON.stringify(result)
        assert.strictEqual(result.expired, 0, seen)
        assert.isAtMost(result.failing, failing, seen)
        assert.isAtMost(result.requests, requests, seen)
      }), 120_000)
  }
})
