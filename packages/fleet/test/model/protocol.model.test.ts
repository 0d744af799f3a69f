import { it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { keptFailure, setBack } from "./bugs.ts"
import { property } from "./property.ts"

it("a fleet of four processes keeps the rules of the protocol, whatever happens to them", async () => {
  await fc.assert(property(() => (store) => store), { seed: 20_261_123, numRuns: 20 })
}, 120_000)

it("a fleet of four processes returns no expired token when the store's clock is set back", async () => {
  await fc.assert(property(() => setBack, { isStoreExact: false }), { seed: 20_261_123, numRuns: 10 })
}, 120_000)

it("a fleet of four processes keeps the rules when the store keeps failures for too long", async () => {
  await fc.assert(property(() => keptFailure), { seed: 20_261_123, numRuns: 10 })
}, 120_000)
