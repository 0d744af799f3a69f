import * as Draw from "./draw.ts"
import * as Fleet from "./fleet.ts"
import type { Result } from "./scenario.ts"
import { type Name, scenarios, seed } from "./scenarios.ts"

const results = new Map<Name, Result>()

/** What happens in a scenario. A run takes seconds, so its result is kept. */
export const resultOf = (name: Name): Result => {
  const result = results.get(name) ?? Fleet.run(scenarios[name], Draw.seeded(seed))
  results.set(name, result)
  return result
}
