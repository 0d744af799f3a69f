import { it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { property } from "./property.ts"

it("outcomes and token requests of the supply equal its model's", async () => {
  // a planted bug needs no shorter counterexample
  await fc.assert(property, { seed: 20_261_123, numRuns: 300, endOnFailure: "PLANTED_BUG" in process.env })
}, 120_000)
