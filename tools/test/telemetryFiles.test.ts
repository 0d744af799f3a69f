import { run as runProcess } from "@credit-data/test-support/childProcess"
import { Command, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { dashboard, figures, panels, text } from "../src/telemetry/dashboard.ts"
import { files } from "../src/telemetry/files.ts"
import { draw } from "../src/telemetry/picture.ts"
import { record } from "../src/telemetry/recordedRun.ts"

const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url))

// Effect keeps the metrics of a whole process together, so there is one run in it
const run = Effect.runSync(Effect.cached(record))

const howTo = "write it again with `npx -y pnpm@10.34.9 run write:telemetry`"

describe("the dashboard", () => {
  it("is what its script writes", () => {
    assert.strictEqual(readFileSync(files.dashboard, "utf8"), text(dashboard()), howTo)
  })

  it("has an id and a place for each panel, and a legend in each chart", () => {
    const all = (dashboard().panels ?? []).flatMap((panel) =>
      panel.type === "row" || !("targets" in panel) ? [] : [panel]
    )
    assert.lengthOf(all, figures.length + panels.length)
    assert.lengthOf(new Set(all.map(({ id }) => id)), all.length)
    assert.lengthOf(new Set(all.map(({ gridPos }) => `${gridPos?.x} ${gridPos?.y}`)), all.length)
    for (const { options, title, type } of all) {
      if (type === "timeseries") assert.nestedPropertyVal(options, "legend.showLegend", true, title)
    }
  })

  it.effect("is one by the schema that Grafana publishes", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ directory: fileURLToPath(new URL("../", import.meta.url)) })
      /** Whether a JSON text has the type of a dashboard. */
      const isDashboard = Effect.fnUntraced(function*(json: string) {
        const file = `${folder}/dashboard.ts`
        yield* fs.writeFileString(
          file,
          `import type { Dashboard } from "@grafana/schema"\nexport const dashboard: Dashboard = ${json}`
        )
        const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--ignoreConfig"]
        const { exitCode } = yield* runProcess(Command.make(tsc, ...options, file))
        return exitCode === 0
      })
      const json = readFileSync(files.dashboard, "utf8")
      assert.isTrue(yield* isDashboard(json))
      for (
        const [from, to] of [["\"id\": 1,", "\"id\": \"1\","], [
          "\"type\": \"query\"",
          "\"type\": \"no such\""
        ]] as const
      ) {
        assert.include(json, from)
        assert.isFalse(yield* isDashboard(json.replace(from, to)), to)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)), 60_000)

  const expressions = [...figures, ...panels].flatMap(({ queries }) => queries.map(([expression]) => expression))
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
