import { Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { existsSync, readdirSync } from "node:fs"
import { canary } from "../src/canaries.ts"
import { assertNothingShows } from "../src/printers.ts"
import { specimens } from "../src/specimens.ts"
import { transports } from "../src/transports.ts"

const folder = new URL("../../../packages/", import.meta.url)

/** The modules of every published package that programs import. */
const packages: ReadonlyArray<readonly [name: string, modules: Record<string, object>]> = await Promise.all(
  readdirSync(folder)
    .filter((name) => existsSync(new URL(`${name}/src/index.ts`, folder)))
    .map(async (name) => [name, await import(`../../../packages/${name}/src/index.ts`)] as const)
)

const exportsOf = (modules: Record<string, object>) =>
  Object.entries(modules).flatMap(([module, members]) => Object.keys(members).map((name) => `${module}.${name}`))

const simulator = Simulator.layer({ credentials: { clientId: "id", clientSecret: Redacted.make(canary) } })

describe.each(transports)("every export of every package, over %s", (_, transport) => {
  it.scoped("shows no secret when it is printed", () =>
    Effect.gen(function*() {
      const found: Record<string, Record<string, unknown>> = yield* specimens
      assert.sameMembers(Object.keys(found), packages.map(([name]) => name))
      for (const [name, modules] of packages) {
        assert.sameMembers(Object.keys(found[name] ?? {}), exportsOf(modules), name)
        yield* assertNothingShows(found[name] ?? {})
      }
    }).pipe(Effect.provide([simulator, transport])), 60_000)
})
