import { files } from "@credit-data/tools/telemetry/files"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { supplyTime } from "./incidents.ts"
import type { Series } from "./promtool.ts"

interface Recording {
  /** How many seconds passed before the incident. */
  readonly quiet: number
  /** How many seconds were recorded in all. */
  readonly length: number
  /** The series of each incident, with a value for each second. */
  readonly incidents: Readonly<Record<string, ReadonlyArray<Series>>>
}

const file = fileURLToPath(new URL("../recorded/incidents.json", import.meta.url))

const rules = readFileSync(files.rules, "utf8")

/** Whether the rules read a series. One that is 0 all the time changes nothing, and such series would be most of the file. */
const isRead = (name: string, values: ReadonlyArray<readonly [at: number, value: number]>): boolean =>
  new RegExp(`\\b${name}\\b`).test(rules) && (name.endsWith("_usable") || values.some(([, value]) => value !== 0))

/** The values in the notation of promtool, in which `1x9` is ten times 1, and `_x9` is nine times nothing. */
const notation = (values: ReadonlyArray<number | undefined>): string => {
  const parts: Array<{ readonly value: number | undefined; count: number }> = []
  for (const value of values) {
    const last = parts.at(-1)
    if (last !== undefined && last.value === value) last.count++
    else parts.push({ value, count: 1 })
  }
  return parts.map(({ count, value }) => value === undefined ? `_x${count}` : `${value}x${count - 1}`).join(" ")
}

/** What a run against a real Prometheus recorded, and its form in a file. */
export const recorded = {
  file,
  read: (): Recording => JSON.parse(readFileSync(file, "utf8")),
  text: ({ from, quiet, series }: {
    readonly series: ReadonlyArray<{
      readonly metric: Readonly<Record<string, string>>
      readonly values: ReadonlyArray<readonly [at: number, value: number]>
    }>
    readonly from: number
    readonly quiet: number
  }): string => {
    const incidents: Record<string, Array<Series>> = {}
    const length = Math.max(...series.flatMap(({ values }) => values.map(([at]) => Math.round(at - from)))) + 1
    for (const { metric: { __name__: name = "", instance: _, ...labels }, values } of series) {
      const incident = labels["credit_data_environment"]
      if (incident === undefined || !isRead(name, values)) continue
      const all = Array.from({ length }, (): number | undefined => undefined)
      // an instant counts from the start of the run, in the time of the rules
      for (const [at, value] of values) {
        all[Math.round(at - from)] = name.includes("_timestamp_")
          ? Math.round(value - supplyTime(from * 1_000) / 1_000)
          : value
      }
      const text = Object.entries({ ...labels, instance: "a" }).map(([key, value]) => `${key}="${value}"`).join(",")
      ;(incidents[incident] ??= []).push({ series: `${name}{${text}}`, values: notation(all) })
    }
    for (const all of Object.values(incidents)) all.sort((a, b) => a.series < b.series ? -1 : 1)
    return `${JSON.stringify({ quiet, length, incidents } satisfies Recording, null, 1)}\n`
  }
}
