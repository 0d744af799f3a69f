import { it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { property } from "./property.ts"

it("outcomes and token requests of the supply equal its model's, in many random runs", async () => {
  await fc.assert(property, { numRuns: 2_000 })
}, 120_000)
