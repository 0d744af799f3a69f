import { figures, panels } from "@credit-data/tools/telemetry/dashboard"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { check } from "../src/promtool.ts"

describe("the dashboard", () => {
  const expressions = [...figures, ...panels].flatMap(({ queries }) => queries.map(([expression]) => expression))
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

  it.effect("has expressions that Prometheus understands", () =>
    Effect.gen(function*() {
      const { isValid, output } = yield* check("rules", asRules(expressions))
      assert.isTrue(isValid, output)
      const mistaken = expressions.map((expression) => expression.replace(/\)$/, ""))
      assert.isFalse((yield* check("rules", asRules(mistaken))).isValid)
    }))
})
