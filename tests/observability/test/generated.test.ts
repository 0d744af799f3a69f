import { has } from "@credit-data/test-support/programs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { dashboard, panels } from "../src/dashboard.ts"
import { files } from "../src/files.ts"
import { draw } from "../src/picture.ts"
import { check } from "../src/promtool.ts"
import { record } from "../src/recordedRun.ts"

// Effect keeps the metrics of a whole process together, so there is one run in it
const run = Effect.runSync(Effect.cached(record))

const howTo = "write it again by `pnpm --filter @credit-data/observability run write`"

describe("the dashboard", () => {
  it("is what its script writes", () => {
    assert.strictEqual(readFileSync(files.dashboard, "utf8"), dashboard(), howTo)
  })

  const expressions = panels.flatMap(({ queries }) => queries.map(([expression]) => expression))
  const asRules = (expressions: ReadonlyArray<string>) =>
    JSON.stringify({
      groups: [{
        name: "panels",
        rules: expressions.map((expression, index) => ({
          record: `panel:${index}`,
          expr: expression.replaceAll("$__rate_interval", "5m")
        }))
      }]
    })

  it.effect.skipIf(!has("promtool"))("has expressions that Prometheus understands", () =>
    Effect.gen(function*() {
      const { isValid, output } = yield* check("rules", asRules(expressions))
      assert.isTrue(isValid, output)
      const mistaken = expressions.map((expression) => expression.replace(/\)$/, ""))
      assert.isFalse((yield* check("rules", asRules(mistaken))).isValid)
    }))

  it.effect("shows only metrics that exist", () =>
    Effect.gen(function*() {
      const exists = new Set(
        (yield* run).flatMap((minute) => Array.from(minute.keys(), (name) => name.split("{")[0]))
      )
      const shown = expressions.flatMap((expression) => expression.match(/credit_data_token_\w+/g) ?? [])
      assert.isAbove(shown.length, 8)
      for (const name of shown) assert.isTrue(exists.has(name), name)
    }), 60_000)
})

describe("the picture of a recorded run", () => {
  it.effect("is what its script draws", () =>
    Effect.gen(function*() {
      assert.strictEqual(readFileSync(files.picture, "utf8"), draw(yield* run), howTo)
    }), 60_000)
})
