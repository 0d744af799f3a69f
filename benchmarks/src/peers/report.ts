import { grid } from "../report.ts"
import { peers, us, us4 } from "./peers.ts"
import type { Result } from "./scenarios.ts"

const number = (value: number) =>
  Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0)

/** The threshold: within 10 % of the best, or within 1.3 × of the floor if there is one. */
const verdict = ({ floor, isInformation, values }: Result) => {
  const own = values[us] ?? Number.NaN
  const first = Math.min(
    ...Object.entries(values).filter(([name]) => name !== floor && name !== us4).map(([, value]) => value)
  )
  const toFloor = floor === undefined ? Infinity : own / (values[floor] ?? Number.NaN)
  const ratios = [
    own <= first ? "the best" : `${number(first === 0 ? Infinity : own / first)} × the best`,
    ...(floor === undefined ? [] : [`${number(toFloor)} × the floor`])
  ].join(", ")
  return { ratios, isMet: isInformation === true || own <= first * 1.1 || toFloor <= 1.3, isInformation }
}

export const allMet = (results: ReadonlyArray<Result>): boolean => results.every((result) => verdict(result).isMet)

/** A table in Markdown: a row for each scenario, a column for each library, and the result of these packages. */
export const table = (machine: string, results: ReadonlyArray<Result>): string => {
  const names = [
    ...new Set(results.flatMap(({ floor, values }) => Object.keys(values).filter((name) => name !== floor)))
  ]
  const row = (result: Result) => {
    const { isInformation, isMet, ratios } = verdict(result)
    const { floor, scenario, unit, values } = result
    return [
      unit === "" ? scenario : `${scenario}, ${unit}`,
      ...names.map((name) => values[name] === undefined ? "" : number(values[name])),
      floor === undefined ? "" : `${number(values[floor] ?? Number.NaN)} (${floor})`,
      isInformation === true ? "" : isMet ? `met: ${ratios}` : `missed: ${ratios}`
    ]
  }
  return [
    "# Comparison with other libraries",
    "",
    "`npx -y pnpm@10.34.9 bench peers` writes this page. Each value is the median of rounds in which the libraries take turns. Less is",
    "better. A row without a threshold is for information. The threshold of all others: at most 1.1 × the best. Where most of the cost is",
    "Effect itself, the floor is what Effect costs without these packages, and at most 1.3 × the floor is enough.",
    "",
    machine,
    "",
    "![The same values as a bar chart](peers.svg)",
    "",
    grid([["scenario", ...names, "floor", "result"], ...results.map(row)]),
    "",
    "How each library is set up, by its own documentation:",
    "",
    ...peers.map(({ name, note }) => `- ${name}: ${note}.`),
    "- @azure/msal-node is missing: it accepts no server without TLS, and none that does not publish its metadata.",
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
    const entries = Object.entries(result.values)
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
        const fill = name === us || name === us4 ? "#0b7a75" : name === result.floor ? "#c9c9c9" : "#8fa6b2"
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
