import { it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { replayedFailure, setBack } from "./bugs.ts"
import { property } from "./property.ts"

it("a fleet of four processes keeps the rules of the protocol, whatever happens to them", async () => {
  await fc.assert(property(() => (store) => store), { seed: 20_261_123, numRuns: 60 })
}, 120_000)

it("a fleet of four processes serves no expired token when the clock of the store is set back", async () => {
  await fc.assert(property(() => setBack, { isStoreExact: false }), { seed: 20_261_123, numRuns: 30 })
}, 120_000)

it("a fleet of four processes keeps the rules when somebody writes a failure again and again", async () => {
  await fc.assert(property(replayedFailure), { seed: 20_261_123, numRuns: 30 })
}, 120_000)
