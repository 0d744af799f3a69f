import { grid } from "../report.ts"
import { box, picture, text, width } from "./drawing.ts"
import { ballatechName, peers, us, us4, usPromise } from "./peers.ts"
import type { Result } from "./result.ts"

/** People write the page above this heading. */
export const heading = "## The measurements"

const number = (value: number) =>
  Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0)

const ours: ReadonlyArray<string> = [us, us4, usPromise]

/** A library that was written again is not compared, because the figures could be those of the copy. */
const isCompared = (name: string) => !ours.includes(name) && name !== ballatechName

const isWithOthers = ({ values }: Result) => Object.keys(values).some(isCompared)

/** The lowest value of the other libraries, and of Effect on the same line. */
const comparison = ({ atMost, floors, values }: Result, own: string) => {
  const value = values[own] ?? Number.NaN
  const others = Object.entries(values).filter(([name]) => isCompared(name)).map(([, other]) => other)
  return { value, best: Math.min(...others), floor: floors?.[own], atMost: atMost?.[own] ?? Number.NaN }
}

const ratio = (value: number, of: number) => value === of ? "equal to" : `${number(value / of)} ×`

/** At most 10 % above the best other library, or within the allowed ratio to Effect alone. */
const isMetBy = (own: string) => (result: Result): boolean => {
  const { atMost, best, floor, value } = comparison(result, own)
  return isWithOthers(result) && value <= best * 1.1 || value <= (floor ?? Number.NaN) * atMost
}

/** A value compared with the lowest of the other libraries and with the floor. */
const ratios = (result: Result, own: string): string => {
  if (result.values[own] === undefined) return ""
  const { atMost, best, floor, value } = comparison(result, own)
  return [
    ...(isWithOthers(result)
      ? [
        best === 0 && value > 0
          ? `${number(value)}; the lowest is 0`
          : `${ratio(value, best)} the lowest (${number(best)})`
      ]
      : []),
    ...(floor === undefined
      ? []
      : [
        `${ratio(value, floor)} Effect alone (${number(floor)}, at most ${number(atMost)} ×${
          isMetBy(own)(result) ? "" : ", **missed**"
        })`
      ])
  ].join("; ")
}

const isMet = (result: Result): boolean =>
  result.isInformation === true || [us, us4].every((own) => isMetBy(own)(result))

export const allMet = (results: ReadonlyArray<Result>): boolean => results.every(isMet)

/** A table in Markdown: a row for each scenario, a column for each library, and these packages compared with the others. */
export const table = (
  machine: string,
  versions: Readonly<Record<string, string>>,
  results: ReadonlyArray<Result>
): string => {
  const names = peers.map(({ name }) => name)
  const row = (result: Result) => [
    result.unit === "" ? result.scenario : `${result.scenario}, ${result.unit}`,
    String(result.runs),
    ...names.map((name) => result.values[name] === undefined ? "" : number(result.values[name]))
  ]
  return [
    heading,
    "",
    "`npx -y pnpm@10.34.9 bench peers` writes this part of the page. A value of several runs is their median, and the libraries take turns. Lower is",
    "better. [How each library is set up](#setup-of-each-library).",
    "",
    machine,
    "",
    grid([["scenario", "runs", ...names], ...results.filter(isWithOthers).map(row)]),
    "",
    "## These packages compared with the others",
    "",
    "_The lowest_ is the lowest value of the other libraries, without the rebuilt one. _Effect alone_ is the baseline, the same work without these",
    "packages: a constant from `runPromise`, a token request by `fetch` and a Deferred that all callers wait for, a call without a token, or the same",
    "program without tokens. _At most_ is the threshold; a row above it is marked **missed**, unless the value is within 10 % of the lowest.",
    "",
    grid([
      ["scenario", "Effect 3", "Effect 4", "Promises"],
      ...results.filter(({ isInformation }) => isInformation !== true).map((result) => [
        result.scenario,
        ...ours.map((own) => ratios(result, own))
      ])
    ]),
    "",
    "## Setup of each library",
    "",
    grid([
      ["library", "version", "setup", "leaves out"],
      ...peers.map(({ leavesOut, name, note }) => [name, versions[name] ?? "", note, leavesOut])
    ]),
    ""
  ].join("\n")
}

const chartNames: Readonly<Record<string, string>> = {
  [us4]: "on Effect 4",
  [usPromise]: "with Promises",
  [ballatechName]: "effect-oauth-client*",
  "@badgateway/oauth2-client": "badgateway",
  "@azure/core-rest-pipeline": "core-rest-pipeline",
  "@azure/msal-node": "msal-node",
  "undici-oidc-interceptor": "undici-oidc"
}

/** The columns of the chart: scenarios by their ids, with a heading of two lines. */
const columns: ReadonlyArray<readonly [id: string, first: string, second: string]> = [
  ["outage", "minutes lost", "in outage"],
  ["waits", "calls that", "waited"],
  ["storm", "requests", "after 401s"],
  ["bundle", "bundle,", "kB"]
]

const labels = 150
const rowHeight = 34

/** A chart of the scenarios that decide: a row for each library, a column for each scenario. */
export const chart = (results: ReadonlyArray<Result>): string => {
  const columnWidth = (width - labels - 12) / columns.length
  const rows = peers.map(({ name }, row) => {
    const y = 70 + row * rowHeight
    const isOurs = ours.includes(name)
    return [
      ...(row % 2 === 0 ? [box(8, width - 8, y - 6, rowHeight, "quiet")] : []),
      text(14, y + 16, chartNames[name] ?? name, { of: isOurs ? "strong small" : "small" }),
      ...columns.flatMap(([id], column) => {
        const values = results.find((result) => result.id === id)?.values ?? {}
        const value = values[name]
        const x = labels + column * columnWidth
        if (value === undefined) return [text(x, y + 10, "–", { of: "dim small" })]
        const most = Math.max(...Object.values(values))
        const bar = value === 0 ? 0 : Math.max(2, (columnWidth - 14) * value / most)
        return [
          text(x, y + 9, number(value), { of: isOurs ? "strong small" : "small" }),
          box(x, x + bar, y + 14, 8, isOurs ? "ours" : "other", 2)
        ]
      })
    ].join("\n")
  })
  return picture(
    "These packages compared with other libraries: minutes of failing calls in an outage, calls that waited for a renewal, token requests while the API " +
      "rejects every token, and size. The table has the same values.",
    70 + peers.length * rowHeight + 34,
    [
      ...columns.flatMap(([, first, second], column) => {
        const x = labels + column * columnWidth
        return [text(x, 28, first, { of: "small dim" }), text(x, 46, second, { of: "small dim" })]
      }),
      ...rows,
      text(14, 70 + peers.length * rowHeight + 18, "Lower is better.  * its way of caching, rebuilt", {
        of: "small dim"
      })
    ]
  )
}

/** The table of the page that compares: what the chart shows, and more, for these packages and for the best and the worst of the others. */
export const summary = (results: ReadonlyArray<Result>): string =>
  grid([
    ["lower is better", "Effect 3", "Effect 4", "Promises", "others, lowest", "others, highest"],
    ...results.flatMap(({ id, scenario, unit, values }) => {
      if (id === undefined) return []
      const others = Object.entries(values).filter(([name]) => isCompared(name))
      const lowest = Math.min(...others.map(([, value]) => value))
      const holders = others.filter(([, value]) => value === lowest).map(([name]) => chartNames[name] ?? name)
      return [[
        unit === "" ? scenario : `${scenario}, ${unit}`,
        ...ours.map((name) => values[name] === undefined ? "" : number(values[name])),
        `${number(lowest)}: ${holders.join(", ")}`,
        number(Math.max(...others.map(([, value]) => value)))
      ]]
    })
  ])
