import { hour, minute, type Scenario, second } from "./scenario.ts"

/** The seed of the published figures. */
export const seed = 2_026

/** A fleet of 100 000 clients with the default settings, over two days. */
const usual: Scenario = {
  clients: 100_000,
  rollout: minute,
  renewalWindow: { from: 0.75, to: 0.9 },
  isShared: false,
  outage: 0,
  capacity: undefined,
  duration: 48 * hour
}

const fixed: Scenario = { ...usual, renewalWindow: { from: 0.8, to: 0.8 } }
const shared: Scenario = { ...usual, isShared: true }
const outage = 10 * minute

/** An endpoint that cannot handle all clients at once. */
const cold: Scenario = { ...usual, rollout: second, capacity: 500, duration: 30 * second }

export const scenarios = {
  usual,
  fixed,
  shared,
  usualOutage: { ...usual, outage },
  fixedOutage: { ...fixed, outage },
  sharedOutage: { ...shared, outage },
  cold,
  coldSlow: { ...cold, rollout: 4 * minute, duration: 5 * minute },
  coldShared: { ...cold, isShared: true }
}

export type Name = keyof typeof scenarios
