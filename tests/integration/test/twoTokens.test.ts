import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "../src/twoTokens/run.ts"
import { acceptsAfter, type Api, refusesOnePath, revokesAt } from "../src/twoTokens/worlds.ts"

/** A sample of the long runs: for how long, how many calls fail at most, and how many tokens are requested at most. */
const rows: ReadonlyArray<
  readonly [name: string, api: Api, options: Parameters<typeof run>[1], failing: number, requests: number]
> = [
  ["accepts a token after 31 s", acceptsAfter(31), { seconds: 95 }, 0, 2],
  ["accepts a token after 31 s", acceptsAfter(31), { seconds: 95, isStream: true }, 3, 2],
  ["accepts a token after 31 s", acceptsAfter(31), { seconds: 70, isCold: true }, 623, 3],
  ["revokes all tokens", revokesAt(70), { seconds: 80 }, 0, 3],
  ["refuses one path", refusesOnePath, { seconds: 95, processes: 2 }, 95, 5]
]

describe.concurrent("calls to an API that", () => {
  for (const [name, api, options, failing, requests] of rows) {
    it.live(`${name} ${JSON.stringify(options)}`, () =>
      Effect.gen(function*() {
        const result = yield* run(api, options)
        const seen = JSON.stringify(result)
        assert.strictEqual(result.expired, 0, seen)
        assert.isAtMost(result.failing, failing, seen)
        assert.isAtMost(result.requests, requests, seen)
      }), 120_000)
  }
})
