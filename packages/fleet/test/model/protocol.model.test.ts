import { it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { replayedFailure, setBack } from "./bugs.ts"
import { property } from "./property.ts"

it("a fleet of four processes keeps the rules of the protocol, whatever happens to them", async () => {
  await fc.assert(property(() => (store) => store), { seed: 20_261_123, numRuns: 60 })
}, 120_000)

it("a fleet of four processes returns no expired token when the store's clock is set back", async () => {
  await fc.assert(property(() => setBack, { isStoreExact: false }), { seed: 20_261_123, numRuns: 30 })
}, 120_000)

it("a fleet of four processes keeps the rules when a failure is written again and again", async () => {
  await fc.assert(property(replayedFailure), { seed: 20_261_123, numRuns: 30 })
}, 120_000)
