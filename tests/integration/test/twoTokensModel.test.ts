import { it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { property } from "../src/twoTokens/property.ts"

it("the promises about rejected tokens hold, whatever happens", async () => {
  await fc.assert(property, { seed: 20_261_126, numRuns: 20 })
}, 120_000)
