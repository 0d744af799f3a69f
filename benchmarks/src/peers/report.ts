import { grid } from "../report.ts"
import { peers, us, us4 } from "./peers.ts"
import type { Result } from "./result.ts"

/** People write the page above this heading. */
export const heading = "## The measurements"

const number = (value: number) =>
  Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0)

const isOther = (name: string) => name !== us && name !== us4

const isWithOthers = ({ values }: Result) => Object.keys(values).some(isOther)

/** The lowest value of the other libraries, and of Effect on the same line. */
const comparison = ({ atMost, floors, values }: Result, own: string) => {
  const value = values[own] ?? Number.NaN
  const others = Object.entries(values).filter(([name]) => isOther(name)).map(([, other]) => other)
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
export const table = (machine: string, results: ReadonlyArray<Result>): string => {
  const names = peers.map(({ name }) => name)
  const row = (result: Result) => [
    result.unit === "" ? result.scenario : `${result.scenario}, ${result.unit}`,
    ...names.map((name) => result.values[name] === undefined ? "" : number(result.values[name]))
  ]
  return [
    heading,
    "",
    "`npx -y pnpm@10.34.9 bench peers` writes this part of the page. Each value is the median of rounds in which the libraries take turns. Lower is",
    "better. Each library is set up as its users would do it for this task: see [the setup](#setup-of-each-library).",
    "",
    machine,
    "",
    "![The same values as a bar chart](peers.svg)",
    "",
    grid([["scenario", ...names], ...results.filter(isWithOthers).map(row)]),
    "",
    "## These packages compared with the others",
    "",
    "_The lowest_ is the lowest value of the other libraries. _Effect alone_ is the baseline, the same work without these packages: a constant from",
    "`runPromise`, a token request by `fetch` and a Deferred that all callers wait for, a call without a token, or a program that sends",
    "requests. Where a row says so, that program also reads its credentials with `Config`, which includes `Schema` on Effect 4. _At most_ is the",
    "threshold; a row above it is marked **missed**, unless the value is within 10 % of the lowest.",
    "",
    grid([
      ["scenario", "Effect 3", "Effect 4"],
      ...results.filter(({ isInformation }) => isInformation !== true).map((result) => [
        result.scenario,
        ratios(result, us),
        ratios(result, us4)
      ])
    ]),
    "",
    "## Setup of each library",
    "",
    grid([
      ["library", "setup", "leaves out"],
      ...peers.map(({ leavesOut, name, note }) => [name, note, leavesOut])
    ]),
    "",
    "Two well-known libraries are missing: google-auth-library has no client credentials grant, and @azure/msal-node needs a server with TLS",
    "that publishes its metadata.",
    ""
  ].join("\n")
}

const escape = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;")

const barHeight = 16
const panelHead = 34
const left = 230
const widest = 420

/** A plot in SVG: a panel for each scenario, a bar for each library. The scale is logarithmic if the values are far apart. */
export const plot = (results: ReadonlyArray<Result>): string => {
  let top = 10
  const panels = results.map((result) => {
    const entries = [
      ...Object.entries(result.values),
      ...Object.entries(result.floors ?? {}).map(([name, value]) =>
        [name === us ? "Effect 3 alone" : "Effect 4 alone", value] as const
      )
    ]
    const most = Math.max(...entries.map(([, value]) => value), 1e-9)
    const least = Math.min(...entries.map(([, value]) => value))
    const isLogarithmic = least > 0 && most / least > 50
    const width = (value: number) =>
      Math.max(2, widest * (isLogarithmic ? Math.log(value / least + 1) / Math.log(most / least + 1) : value / most))
    const start = top
    top += panelHead + entries.length * (barHeight + 4) + 10
    const scale = `${result.unit}${isLogarithmic ? `${result.unit === "" ? "" : ", "}logarithmic` : ""}`
    return [
      `<text x="10" y="${start + 20}" font-weight="bold">${escape(result.scenario)}${
        scale === "" ? "" : ` (${scale})`
      }</text>`,
      ...entries.flatMap(([name, value], index) => {
        const y = start + panelHead + index * (barHeight + 4)
        const fill = name === us || name === us4 ? "#0b7a75" : name.endsWith(" alone") ? "#c9c9c9" : "#8fa6b2"
        return [
          `<text x="${left - 8}" y="${y + 12}" text-anchor="end">${escape(name)}</text>`,
          `<rect x="${left}" y="${y}" width="${width(value).toFixed(1)}" height="${barHeight}" fill="${fill}"/>`,
          `<text x="${left + width(value) + 6}" y="${y + 12}">${number(value)}</text>`
        ]
      })
    ].join("\n")
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="720" height="${top}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    ...panels,
    "</svg>",
    ""
  ].join("\n")
}
