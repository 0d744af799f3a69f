import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { canary } from "../../src/canaries.ts"
import { isClassified } from "../../src/faultRow.ts"
import { expectedOver, tables } from "../../src/networkFaults.ts"

// all six requirements over all transports: network.system.test.ts
describe.concurrent.each(tables)("a token request: %s", (_, rows) => {
  for (const [name, fault, expected] of rows) {
    it.effect(`${name} is the expected failure`, () =>
      Effect.flatMap(
        Simulator.Simulator,
        (simulator) =>
          isClassified({ name, fault, ...expectedOver("node:http", expected) }, simulator, NodeHttpClient.layer)
      ).pipe(
        Effect.provide(Simulator.layer({ credentials: { clientId: "id", clientSecret: Redacted.make(canary) } }))
      ))
  }
})
