import { AccessTokens } from "@credit-data/core"
import { Prometheus, Telemetry } from "@credit-data/telemetry"
import { run as runProcess } from "@credit-data/test-support/childProcess"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { dashboard, figures, panels, text } from "../src/telemetry/dashboard.ts"
import { files, runbooks } from "../src/telemetry/files.ts"

const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url))

const howTo = "write it again with `npx -y pnpm@10.34.9 run write:telemetry`"

describe("the dashboard", () => {
  const all = (dashboard().panels ?? []).flatMap((panel) =>
    panel.type === "row" || !("targets" in panel) ? [] : [panel]
  )

  it("is what its script writes", () => {
    assert.strictEqual(readFileSync(files.dashboard, "utf8"), text(dashboard()), howTo)
  })

  it("has an id and a place for each panel, and a legend in each chart", () => {
    assert.lengthOf(all, figures.length + panels.length)
    assert.lengthOf(new Set(all.map(({ id }) => id)), all.length)
    assert.lengthOf(new Set(all.map(({ gridPos }) => `${gridPos?.x} ${gridPos?.y}`)), all.length)
    for (const { options, title, type } of all) {
      if (type === "timeseries") assert.nestedPropertyVal(options, "legend.showLegend", true, title)
    }
  })

  it("links to sections of the runbook", () => {
    const operations = readFileSync(files.operations, "utf8")
    const sections = Array.from(
      operations.matchAll(/^#+ (.+)$/gm),
      ([, heading = ""]) => heading.toLowerCase().replace(/[^\w\s-]/g, "").replaceAll(" ", "-")
    )
    const links = Array.from(
      text(dashboard()).matchAll(/"url": "(.*?)#(.*?)"/g),
      ([, page, section]) => ({ page, section })
    )
    assert.isAbove(links.length, figures.length)
    for (const { page, section } of links) {
      assert.strictEqual(page, runbooks)
      assert.include(sections, section)
    }
  })

  it.effect("is one by the schema that Grafana publishes", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      // hidden, because other checks read the folder meanwhile
      const folder = yield* fs.makeTempDirectoryScoped({
        directory: fileURLToPath(new URL("../", import.meta.url)),
        prefix: ".dashboard-"
      })
      /** Whether a JSON text has the type of a dashboard. */
      const isDashboard = Effect.fnUntraced(function*(json: string) {
        const file = `${folder}/dashboard.ts`
        yield* fs.writeFileString(
          file,
          `import { type Dashboard, ThresholdsMode } from "@grafana/schema"\nexport const dashboard: Dashboard = ${
            // an enumeration of strings, to which TypeScript assigns no string
            json.replaceAll(`"mode": "absolute"`, `"mode": ThresholdsMode.Absolute`)}`
        )
        const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--ignoreConfig"]
        const { exitCode } = yield* runProcess([tsc, ...options, file])
        return exitCode === 0
      })
      assert.isTrue(yield* isDashboard(readFileSync(files.dashboard, "utf8")))
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)), 60_000)

  const expressions = [...figures, ...panels].flatMap(({ queries }) => queries.map(([expression]) => expression))
  it.effect("shows only metrics that exist", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get)
      yield* TestClock.adjust("1 second")
      const exists = new Set(
        Array.from((yield* Prometheus.text).matchAll(/^credit_data_token_\w+/gm), ([name]) => name)
      )
      const shown = expressions.flatMap((expression) => expression.match(/credit_data_token_\w+/g) ?? [])
      assert.isAbove(shown.length, 8)
      for (const name of shown) assert.isTrue(exists.has(name), name)
    }).pipe(Effect.provide(Telemetry.layer().pipe(Layer.provideMerge(AccessTokens.layerTest())))))
})
