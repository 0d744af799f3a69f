import { Simulator } from "@credit-data/simulator"
import { assert } from "@effect/vitest"
import type { HttpClient } from "@effect/platform"
import { Effect, type Layer, Redacted } from "effect"
import { existsSync, readdirSync } from "node:fs"
import { canary } from "./canaries.ts"
import { assertNothingShows } from "./printers.ts"
import { specimens } from "./specimens.ts"

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

/** Every export has a specimen, and no specimen shows a secret when it is printed. */
export const nothingShows = (transport: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.gen(function*() {
    const found: Record<string, Record<string, unknown>> = yield* specimens
    assert.sameMembers(Object.keys(found), packages.map(([name]) => name))
    for (const [name, modules] of packages) {
      assert.sameMembers(Object.keys(found[name] ?? {}), exportsOf(modules), name)
      yield* assertNothingShows(found[name] ?? {})
    }
  }).pipe(Effect.provide([simulator, transport]))
