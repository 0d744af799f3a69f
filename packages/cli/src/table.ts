import { stripVTControlCharacters } from "node:util"

/** Lines of aligned columns. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths: Array<number> = []
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, stripVTControlCharacters(cell).length)
    })
  }
  const padded = (cell: string, column: number) =>
    cell + " ".repeat((widths[column] ?? 0) - stripVTControlCharacters(cell).length)
  return rows.map((row) => row.map(padded).join("  ").trimEnd()).join("\n")
}
