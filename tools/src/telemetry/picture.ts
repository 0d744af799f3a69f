import { incidents, type Minute, minutes } from "./recordedRun.ts"

const width = 760
const left = 130
const plotWidth = width - left - 20
const plotHeight = 64
const panelHeight = plotHeight + 46

const x = (minute: number) => Math.round((left + minute / minutes * plotWidth) * 10) / 10

interface Panel {
  readonly title: string
  /** The values per minute, with the class of their line. */
  readonly lines: ReadonlyArray<readonly [kind: "good" | "bad", values: ReadonlyArray<number>]>
  readonly least: number
  readonly most: number
  readonly label: (value: number) => string
}

const sum = (minute: Minute, isWanted: (series: string) => boolean) =>
  Array.from(minute).reduce((total, [series, value]) => total + (isWanted(series) ? value : 0), 0)

/** What a counter has grown by, per minute. */
const growth = (run: ReadonlyArray<Minute>, isWanted: (series: string) => boolean) =>
  run.map((minute, index) => {
    const before = run[index - 1]
    return before === undefined ? 0 : sum(minute, isWanted) - sum(before, isWanted)
  })

const requests = (outcome: RegExp) => (series: string) =>
  series.startsWith("credit_data_token_requests_total") && outcome.test(series)

const panelsOf = (run: ReadonlyArray<Minute>): ReadonlyArray<Panel> => [
  {
    title: "Time until the token expires",
    lines: [[
      "good",
      run.map((minute, index) => {
        const expiry = sum(minute, (series) => series.startsWith("credit_data_token_expiry_timestamp_seconds"))
        return expiry === 0 ? 0 : expiry / 60 - index
      })
    ]],
    least: -20,
    most: 60,
    label: (value) => `${value} min`
  },
  {
    title: "Token requests per minute: granted, and failed",
    lines: [
      ["good", growth(run, requests(/outcome="(obtained|renewed)"/))],
      ["bad", growth(run, requests(/outcome="failed"/))]
    ],
    least: 0,
    most: Math.max(4, ...growth(run, requests(/outcome="failed"/))),
    label: String
  },
  {
    title: "Token requests fail",
    lines: [["bad", run.map((minute) => sum(minute, (series) => series.startsWith("credit_data_token_failing")))]],
    least: 0,
    most: 1,
    label: (value) => value === 1 ? "yes" : "no"
  },
  {
    title: "Tokens served per minute",
    lines: [["good", growth(run, (series) => series.startsWith("credit_data_token_served_total"))]],
    least: 0,
    most: 14,
    label: String
  }
]

/** Draws the main panels of the dashboard from a recorded run. */
export const draw = (run: ReadonlyArray<Minute>): string => {
  const panels = panelsOf(run)
  const height = panels.length * panelHeight + 40
  const bands = incidents.flatMap(({ from, name, to }) => [
    `<rect class="incident" x="${x(from)}" y="24" width="${Math.max(2, x(to) - x(from))}" height="${height - 56}"/>`,
    `<text class="note" x="${x(from)}" y="18">${name}</text>`
  ])
  const drawn = panels.flatMap(({ label, least, lines, most, title }, index) => {
    const top = index * panelHeight + 56
    const y = (value: number) =>
      Math.round((top + plotHeight - (value - least) / (most - least) * plotHeight) * 10) / 10
    return [
      `<text class="title" x="${left}" y="${top - 10}">${title}</text>`,
      ...[least, 0, most].filter((value, at, all) => all.indexOf(value) === at).flatMap((value) => [
        `<line class="grid" x1="${left}" x2="${left + plotWidth}" y1="${y(value)}" y2="${y(value)}"/>`,
        `<text class="axis" x="${left - 10}" y="${y(value) + 4}">${label(value)}</text>`
      ]),
      ...lines.map(([kind, values]) =>
        `<polyline class="${kind}" points="${
          values.flatMap((value, minute) => [`${x(minute)},${y(value)}`, `${x(minute + 1)},${y(value)}`]).join(" ")
        }"/>`
      )
    ]
  })
  const hours = Array.from(
    { length: minutes / 60 + 1 },
    (_, hour) => `<text class="hour" x="${x(hour * 60)}" y="${height - 12}">${hour} h</text>`
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    "<title>A recorded run of four hours: renewals, an outage, and a rejected token</title>",
    "<style>",
    "text { font: 12px system-ui, sans-serif; fill: #3c4043 }",
    ".title { font-weight: 600 } .axis { text-anchor: end } .hour { text-anchor: middle } .note { fill: #b3261e }",
    ".grid { stroke: #9aa0a6; stroke-opacity: .35 } .incident { fill: #b3261e; fill-opacity: .1 }",
    "polyline { fill: none; stroke-width: 1.5 } .good { stroke: #1a73e8 } .bad { stroke: #d93025 }",
    "@media (prefers-color-scheme: dark) { text { fill: #e8eaed } .note { fill: #f28b82 } .good { stroke: #8ab4f8 } .bad { stroke: #f28b82 } }",
    "</style>",
    ...bands,
    ...drawn,
    ...hours,
    "</svg>",
    ""
  ].join("\n")
}
