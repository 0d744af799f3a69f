import { Effect } from "effect"
import * as Draw from "../../tests/fleet/src/simulation/draw.ts"
import * as Fleet from "../../tests/fleet/src/simulation/fleet.ts"
import { requestsOf } from "../../tests/fleet/src/simulation/scenario.ts"
import { scenarios, seed } from "../../tests/fleet/src/simulation/scenarios.ts"
import type { Measurement } from "./report.ts"

const mostSeconds = 10

/** `SIMULATED_CLIENTS=1000000` simulates a larger fleet too. */
const larger = Number(process.env["SIMULATED_CLIENTS"] ?? 0)

const measure = (clients: number, limit: { readonly atMost?: number }): ReadonlyArray<Measurement> => {
  const start = performance.now()
  const result = Fleet.run({ ...scenarios.usual, clients }, Draw.seeded(seed))
  const seconds = (performance.now() - start) / 1_000
  return [
    { what: `simulation of ${clients} clients over 48 hours`, value: seconds, unit: "s", ...limit },
    { what: "token requests in it", value: requestsOf(result), unit: "token requests" }
  ]
}

/** The time to simulate a fleet with the default settings. */
export const simulation: Effect.Effect<ReadonlyArray<Measurement>> = Effect.sync(() => [
  ...measure(scenarios.usual.clients, { atMost: mostSeconds }),
  ...(larger > 0 ? measure(larger, {}) : [])
])
