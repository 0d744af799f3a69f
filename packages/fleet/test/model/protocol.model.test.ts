import { it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { property } from "./property.ts"

it("a fleet of four processes keeps the rules of the protocol, whatever happens to them", async () => {
  await fc.assert(property(() => (store) => store), { seed: 20_261_123, numRuns: 60 })
}, 120_000)
