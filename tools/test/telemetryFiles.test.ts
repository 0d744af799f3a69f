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

  it("fits its first row into a window 1 400 pixels wide, titles included", () => {
    // Grafana divides the width into 24 columns, and leaves 8 pixels between panels and 16 at the sides
    const column = (1_400 - 2 * 16) / 24
    const first = all.filter(({ gridPos }) => gridPos?.y === 0)
    assert.lengthOf(first, figures.length)
    assert.strictEqual(first.reduce((width, { gridPos }) => width + (gridPos?.w ?? 0), 0), 24)
    for (const { gridPos, title = "" } of all) {
      // a character of a title takes at most 8 pixels, and its padding and the signs beside it 80
      assert.isAtMost(title.length * 8 + 80, (gridPos?.w ?? 0) * column - 8, title)
    }
  })

  it("has figures that change their colour at their thresholds", () => {
    for (const panel of (dashboard().panels ?? []).filter(({ type }) => type === "stat")) {
      assert.nestedPropertyVal(panel, "options.colorMode", "background")
      assert.isAtLeast(figures.find(({ title }) => title === panel.title)?.thresholds?.length ?? 0, 2)
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
      const json = readFileSync(files.dashboard, "utf8")
      assert.isTrue(yield* isDashboard(json))
      const mistakes = [[`"id": 1,`, `"id": "1",`], [`"type": "query"`, `"type": "no such"`]] as const
      for (const [from, to] of mistakes) {
        assert.include(json, from)
        assert.isFalse(yield* isDashboard(json.replace(from, to)), to)
      }
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
