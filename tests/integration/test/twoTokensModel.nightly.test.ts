import { it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { property } from "../src/twoTokens/property.ts"

it("the promises about rejected tokens hold, whatever happens, in many random runs", async () => {
  await fc.assert(property, { numRuns: 300 })
}, 900_000)
