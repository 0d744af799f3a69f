import { files } from "@credit-data/tools/telemetry/files"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { factor, incidents } from "../src/incidents.ts"
import { firstFiring } from "../src/promtool.ts"
import { recorded } from "../src/recording.ts"

// The rules as they are shipped, on the metrics that a run against a real Prometheus recorded. Each recorded second counts as ten.

const rules = readFileSync(files.rules, "utf8")
const alerts = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, name = ""]) => name)
const { incidents: runs, length, quiet } = recorded.read()

/** The alerts that fire in an incident, and when: in seconds from its start. */
const firedIn = (name: string) =>
  Effect.map(
    Effect.forEach(alerts, (alert) =>
      Effect.map(firstFiring(rules, alert, runs[name] ?? [], length * factor), (second) =>
        second === undefined ? [] : [{ alert, second: second - quiet * factor }])),
    (found) =>
      found.flat()
  )

const minutes = (seconds: number) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`

describe("the alert rules as they are shipped", () => {
  const rows: Array<string> = []

  it("have a recording of each incident", () => {
    assert.sameMembers(Object.keys(runs), Object.keys(incidents))
  })

  for (const [name, { alerts: expected }] of Object.entries(incidents)) {
    it.live(`fire in time, and no others, when ${name}`, () =>
      Effect.gen(function*() {
        const fired = yield* firedIn(name)
        assert.sameMembers(fired.map(({ alert }) => alert), Object.keys(expected))
        for (const { alert, second } of fired) assert.isAtMost(second, (expected[alert] ?? 0) * 60, alert)
        rows.push(
          ...(fired.length === 0
            ? [`| ${name} | none | |`]
            : fired.map(({ alert, second }) => `| ${name} | \`${alert}\` | ${minutes(second)} |`))
        )
      }), 60_000)
  }

  it("are documented with these times", () => {
    const [before = "", , after = ""] = readFileSync(files.telemetry, "utf8").split(
      /(\| what happens +\|[\s\S]*?\n)(?=\n)/
    )
    const table = ["| what happens | alert | after |", "| --- | --- | --- |", ...rows].join("\n")
    if (process.env["RECORD"] === "write") writeFileSync(files.telemetry, `${before}${table}\n${after}`)
    const cells = (text: string) => text.split("\n").map((line) => line.split("|").map((cell) => cell.trim()).join("|"))
    const documented = readFileSync(files.telemetry, "utf8").split("| what happens")[1]?.split("\n\n")[0] ?? ""
    assert.deepStrictEqual(
      cells(documented).slice(2),
      cells(rows.join("\n"))
    )
  })
})
