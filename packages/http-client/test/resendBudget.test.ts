import * as Clocks from "@credit-data/test-support/clock"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ResendBudget from "../src/internal/attempts.ts"

/** A budget whose time the test controls. It begins an hour after the zero of the clock. */
const setUp = () => {
  let now = 3_600_000
  const clock = Clocks.make({
    wallMillis: () => 0,
    monotonicNanos: () => BigInt(now) * 1_000_000n,
    sleep: () => Effect.never
  })
  const budget = ResendBudget.makeBudget(clock)
  return {
    pass: (millis: number) => {
      now += millis
    },
    send: (times: number) => {
      for (let each = 0; each < times; each++) budget.sent()
    },
    /** How many resends are left. They are used up. */
    remaining: () => {
      let taken = 0
      while (budget.take()) taken++
      return taken
    }
  }
}

describe("the budget of resends", () => {
  it("begins with three resends", () => {
    const { remaining, send } = setUp()
    send(1)
    assert.strictEqual(remaining(), 3)
    assert.strictEqual(remaining(), 0)
  })

  it("has one resend for each call, once, and never fewer than three", () => {
    const { remaining, send } = setUp()
    send(5)
    assert.strictEqual(remaining(), 5)
    assert.strictEqual(remaining(), 0)
    send(1)
    assert.strictEqual(remaining(), 1)
  })

  it("has three resends again when the earlier ones are more than five to ten seconds ago", () => {
    const { remaining, pass, send } = setUp()
    send(1)
    assert.strictEqual(remaining(), 3)
    for (const [pause, expected] of [[4_999, 0], [5_000, 0], [10_000, 3]] as const) {
      pass(pause)
      send(1)
      assert.strictEqual(remaining(), expected, `after ${pause} ms`)
    }
  })

  it("counts the calls of the last five to ten seconds, and no more", () => {
    for (
      const [pause, second, expected] of [[4_999, 0, 5], [5_000, 4_999, 9], [5_000, 5_000, 4], [10_000, 0, 4]] as const
    ) {
      const { remaining, pass, send } = setUp()
      send(5)
      pass(pause)
      if (pause >= 5_000) send(4)
      pass(second)
      assert.strictEqual(remaining(), expected, `after ${pause} and ${second} ms`)
    }
  })
})
