import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { bugs } from "./bugs.ts"
import { property } from "./property.ts"

describe("a fleet of four processes, whatever happens to them", () => {
  it("keeps the rules of the protocol", async () => {
    await fc.assert(property(() => (store) => store), { numRuns: 2_000 })
  }, 1_200_000)

  it.each(Object.entries(bugs))("breaks a rule when %s", async (_, bug) => {
    const { failed } = await fc.check(property(bug, { isStoreExact: false }), { numRuns: 1_000, endOnFailure: true })
    assert.isTrue(failed, "the planted bug was not found")
  }, 300_000)
})
