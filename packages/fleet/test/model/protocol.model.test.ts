import { runs } from "@credit-data/test-support/searches"
import { it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { keptFailure, setBack } from "./bugs.ts"
import { property } from "./property.ts"
import { expired } from "./world.ts"

it("a fleet of four processes keeps the rules of the protocol, whatever happens to them", async () => {
  await fc.assert(property(() => (store) => store), runs(20))
}, 120_000)

it("a fleet of four processes returns no expired token when the store's clock is set back", async () => {
  // processes cannot use each other's tokens then, so they wait longer and request more of them
  await fc.assert(property(() => setBack, { isStoreExact: false, rule: expired }), runs(20))
}, 120_000)

it("a fleet of four processes keeps the rules when the store keeps failures for too long", async () => {
  await fc.assert(property(() => keptFailure), runs(20))
}, 120_000)
