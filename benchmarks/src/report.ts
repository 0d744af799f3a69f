/** A figure, and the threshold that it must not exceed, if there is one. */
export interface Measurement {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly atMost?: number
}

/** The median of the values. */
export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const format = (value: number) => Number.isInteger(value) ? String(value) : value.toFixed(2)

const isMet = ({ atMost, value }: Measurement) => atMost === undefined || value <= atMost

/** Formats rows of cells as a table in Markdown. The first row is the header. */
export const grid = (cells: ReadonlyArray<ReadonlyArray<string>>): string => {
  const [head = [], ...body] = cells
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n")
}

/** Formats the figures and their thresholds as a table in Markdown. */
export const table = (rows: ReadonlyArray<Measurement>): string =>
  grid([
    ["what", "measured", "", "threshold", ""],
    ...rows.map((row) => [
      row.what,
      format(row.value),
      row.unit,
      row.atMost === undefined ? "" : `at most ${format(row.atMost)}`,
      row.atMost === undefined ? "" : isMet(row) ? "met" : "missed"
    ])
  ])

/** Whether no figure exceeds its threshold. */
export const allMet = (rows: ReadonlyArray<Measurement>): boolean => rows.every(isMet)
