import * as AuthV1 from "@credit-data/auth-v1"
import * as AuthV2 from "@credit-data/auth-v2"
import * as Core from "@credit-data/core"
import * as HttpClient from "@credit-data/http-client"
import * as Simulated from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { canary } from "../src/canaries.ts"
import { assertNothingShows } from "../src/printers.ts"
import { specimens } from "../src/specimens.ts"
import { transports } from "../src/transports.ts"

/** The packages, as their users import them. */
const packages: Record<string, Record<string, object>> = {
  core: Core,
  "auth-v1": AuthV1,
  "auth-v2": AuthV2,
  "http-client": HttpClient,
  simulator: Simulated
}

const exportsOf = (modules: Record<string, object>) =>
  Object.entries(modules).flatMap(([module, members]) => Object.keys(members).map((name) => `${module}.${name}`))

const simulator = Simulated.Simulator.layer({ credentials: { clientId: "id", clientSecret: Redacted.make(canary) } })

describe("every export of every package", () => {
  it("is of a package that is known here", () => {
    const folders = readdirSync(fileURLToPath(new URL("../../", import.meta.url)))
    assert.sameMembers(folders, [...Object.keys(packages), "integration", "benchmarks", "packed", "docs"])
  })

  for (const [name, transport] of transports) {
    it.scoped(`is printed, and shows no secret, over ${name}`, () =>
      Effect.gen(function*() {
        const found: Record<string, Record<string, unknown>> = yield* specimens
        for (const [name, modules] of Object.entries(packages)) {
          assert.sameMembers(Object.keys(found[name] ?? {}), exportsOf(modules), name)
          yield* assertNothingShows(found[name] ?? {})
        }
      }).pipe(Effect.provide([simulator, transport])), 60_000)
  }
})
