import { figures, panels } from "@credit-data/tools/telemetry/dashboard"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { check } from "../src/promtool.ts"

it.effect("the dashboard has expressions that Prometheus understands", () =>
  Effect.gen(function*() {
    const expressions = [...figures, ...panels].flatMap(({ queries }) => queries.map(([expression]) => expression))
    const rules = expressions.map((expression, index) => ({
      record: `panel:${index}`,
      expr: expression.replaceAll("$__rate_interval", "5m")
    }))
    const { isValid, output } = yield* check("rules", JSON.stringify({ groups: [{ name: "panels", rules }] }))
    assert.isTrue(isValid, output)
  }))
