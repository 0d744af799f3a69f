import { it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { property } from "./property.ts"

it("outcomes and token requests of the supply equal its model's", async () => {
  await fc.assert(property, { seed: 20_261_123, numRuns: 300 })
}, 120_000)
