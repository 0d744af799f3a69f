import { NodeHttpClient } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isClassified, simulator } from "../../src/faultRow.ts"
import { expectedOver, tables } from "../../src/networkFaults.ts"

// all six requirements over all transports: network.system.test.ts
describe.concurrent.each(tables)("a token request: %s", (_, rows) => {
  for (const [name, fault, expected] of rows) {
    it.effect(`${name} is the expected failure`, () =>
      isClassified(fault, expectedOver("node:http", expected), NodeHttpClient.layer).pipe(Effect.provide(simulator)))
  }
})
