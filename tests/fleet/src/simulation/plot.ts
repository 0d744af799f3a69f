const width = 760
const left = 70
const plotWidth = width - left - 30
const plotHeight = 84
const panelHeight = plotHeight + 50
const top = 88

/** The axis starts below 1, so that a single request is visible. */
const least = 0.6

/** Rates that share their axes, one panel below the other. */
export interface Plot {
  readonly title: string
  readonly unit: string
  /** The highest power of ten on the axis. */
  readonly highest: number
  /** The marks below the last panel, from 0 at its left to 1 at its right. */
  readonly marks: ReadonlyArray<{ readonly at: number; readonly label: string }>
  /** A time that is marked in all panels. */
  readonly band?: { readonly from: number; readonly to: number; readonly label: string }
  /** A rate that is marked in all panels. */
  readonly limit?: { readonly value: number; readonly label: string }
  readonly panels: ReadonlyArray<{ readonly title: string; readonly values: ReadonlyArray<number> }>
}

const round = (value: number) => Math.round(value * 10) / 10
const x = (share: number) => round(left + share * plotWidth)
const height = (value: number, highest: number) =>
  value < 1 ? 0 : round(Math.log10(value / least) / (highest - Math.log10(least)) * plotHeight)

const grouped = (value: number) => String(value).replace(/\B(?=(\d{3})+$)/g, " ")

const panel = ({ highest, limit }: Plot, { title, values }: Plot["panels"][number], index: number) => {
  const bottom = top + index * panelHeight + plotHeight
  const powers = Array.from({ length: highest + 1 }, (_, power) => 10 ** power)
  const bars = values.flatMap((value, at) =>
    value === 0
      ? []
      : [
        `M${x(at / values.length)} ${bottom}V${round(bottom - height(value, highest))}H${
          x((at + 1) / values.length)
        }V${bottom}`
      ]
  )
  return [
    `<text class="title" x="${left}" y="${bottom - plotHeight - 10}">${title}</text>`,
    ...powers.flatMap((power) => {
      const y = round(bottom - height(power, highest))
      return [
        `<line class="grid" x1="${left}" x2="${left + plotWidth}" y1="${y}" y2="${y}"/>`,
        `<text class="axis" x="${left - 8}" y="${y + 4}">${grouped(power)}</text>`
      ]
    }),
    `<path class="bar" d="${bars.join("")}"/>`,
    `<line class="base" x1="${left}" x2="${left + plotWidth}" y1="${bottom}" y2="${bottom}"/>`,
    ...(limit === undefined ? [] : [
      `<line class="limit" x1="${left}" x2="${left + plotWidth}" y1="${
        round(bottom - height(limit.value, highest))
      }" y2="${round(bottom - height(limit.value, highest))}"/>`,
      `<text class="note end" x="${left + plotWidth}" y="${
        round(bottom - height(limit.value, highest) - 4)
      }">${limit.label}</text>`
    ])
  ]
}

/** Draws a plot as SVG, for light and dark pages. */
export const draw = (plot: Plot): string => {
  const bottom = top + (plot.panels.length - 1) * panelHeight + plotHeight
  const total = bottom + 34
  const { band } = plot
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" width="${width}" height="${total}" role="img">`,
    `<title>${plot.title}</title>`,
    "<style>",
    "text { font: 12px system-ui, sans-serif; fill: #3c4043 } .head { font-size: 14px; font-weight: 600 }",
    ".title { font-weight: 600 } .axis, .end { text-anchor: end } .mark { text-anchor: middle } .note { fill: #b3261e }",
    ".grid { stroke: #9aa0a6; stroke-opacity: .35 } .base { stroke: #9aa0a6 } .bar { fill: #1a73e8 }",
    ".band { fill: #b3261e; fill-opacity: .1 } .limit { stroke: #b3261e; stroke-dasharray: 4 3 }",
    "@media (prefers-color-scheme: dark) { text { fill: #e8eaed } .note { fill: #f28b82 } .bar { fill: #8ab4f8 } .limit { stroke: #f28b82 } }",
    "</style>",
    `<text class="head" x="${left}" y="18">${plot.title}</text>`,
    `<text x="${left}" y="36">${plot.unit}</text>`,
    ...(band === undefined ? [] : [
      `<rect class="band" x="${x(band.from)}" y="${top - 28}" width="${round(x(band.to) - x(band.from))}" height="${
        bottom - top + 28
      }"/>`,
      `<text class="note" x="${x(band.from)}" y="${top - 33}">${band.label}</text>`
    ]),
    ...plot.panels.flatMap((each, index) => panel(plot, each, index)),
    ...plot.marks.map(({ at, label }) => `<text class="mark" x="${x(at)}" y="${bottom + 20}">${label}</text>`),
    "</svg>",
    ""
  ].join("\n")
}
