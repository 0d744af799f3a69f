import type { Plan } from "@credit-data/migration"

export const v1: Plan.Plan = { stage: "v1" }
export const shadow: Plan.Plan = { stage: "shadow" }
export const v2: Plan.Plan = { stage: "v2" }
