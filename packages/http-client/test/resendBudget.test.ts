import * as Clocks from "@credit-data/test-support/clock"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ResendBudget from "../src/internal/resend.ts"

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
  it("is empty before a call", () => {
    assert.strictEqual(setUp().remaining(), 0)
  })

  it("has one resend for each call, once", () => {
    const { remaining, send } = setUp()
    send(3)
    assert.strictEqual(remaining(), 3)
    assert.strictEqual(remaining(), 0)
    send(1)
    assert.strictEqual(remaining(), 1)
  })

  it("keeps what is left of the last five to ten seconds, and no more", () => {
    for (
      const [pause, second, expected] of [[4_999, 0, 2], [5_000, 4_999, 3], [5_000, 5_000, 1], [10_000, 0, 1]] as const
    ) {
      const { remaining, pass, send } = setUp()
      send(2)
      pass(pause)
      if (pause >= 5_000) send(1)
      pass(second)
      assert.strictEqual(remaining(), expected, `after ${pause} and ${second} ms`)
    }
  })

  it("spends the present before the past, and the past only once", () => {
    const { remaining, pass, send } = setUp()
    send(2)
    pass(5_000)
    assert.strictEqual(remaining(), 2)
    assert.strictEqual(remaining(), 0)
    pass(5_000)
    assert.strictEqual(remaining(), 0)
  })
})
