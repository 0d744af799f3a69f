import { stripVTControlCharacters, styleText } from "node:util"

// Text for terminals and shells. Needs nothing of Effect, so that help and completions come at once.

/** Colour is for people only: on a terminal, unless `NO_COLOR` is set (https://no-color.org). */
export const hasColor = ({ isTTY }: { readonly isTTY?: boolean }): boolean =>
  isTTY === true && (process.env["NO_COLOR"] ?? "") === "" && process.env["TERM"] !== "dumb"

/** Does standard output go to a person? */
export const isTerminal = (): boolean => process.stdout.isTTY

type Color = "green" | "red" | "yellow" | "dim" | "bold"

/** Text of standard output in a colour that has a meaning. */
export const colored = (color: Color, text: string): string =>
  hasColor(process.stdout) ? styleText(color, text, { validateStream: false }) : text

/** Does the locale show more than ASCII? Without a locale, POSIX means ASCII. On Windows, terminals show Unicode. */
export const hasUnicode = (): boolean => {
  const { LANG, LC_ALL, LC_CTYPE, TERM } = process.env
  const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== "") ?? "C"
  return TERM !== "dumb" && (process.platform === "win32" || /utf-?8/i.test(locale))
}

/** Characters that steer a terminal, or that change the order in which it shows others. A line feed and a tab are harmless. */
const steering = /(?![\n\t])[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/gu

/** Foreign text for a terminal: characters that steer it are shown and have no effect. */
export const visible = (text: string): string =>
  text.replaceAll("\r\n", "\n").replaceAll(
    steering,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`
  )

/** Scopes on one line of a terminal. The server chooses their characters. */
export const scopesText = (scopes: ReadonlyArray<string>): string => visible(scopes.join(" ").replaceAll(/\s/g, " "))

/** Lines of aligned columns. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widthOf = (cell: string) => stripVTControlCharacters(cell).length
  const widths = rows.reduce<ReadonlyArray<number>>(
    (widths, row) =>
      row.map((cell, column) => Math.max(widths[column] ?? 0, widthOf(cell))).concat(widths.slice(row.length)),
    []
  )
  return rows.map((row) =>
    row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell))).join("  ").trimEnd()
  ).join("\n")
}

/** The columns of the terminal. A terminal that does not know its size reports none. */
export const columnsOr = (otherwise: number): number => {
  // it is missing where the output is not a terminal, although its type does not say so
  const columns: number | undefined = process.stdout.columns
  return columns === undefined || columns === 0 ? otherwise : columns
}

/** The lines of a text that fit into this width. A word is never broken. */
export const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** A word of a shell, whatever characters it has. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The output of `--json`, on one line. A field may be added to a version. */
export const jsonText = (fields: object): string => {
  const text = JSON.stringify({ version: 1, ...fields })
  return isTerminal() ? visible(text) : text
}

/**
 * An instant in both forms, to the second: a time that is calculated from a remaining life differs by a millisecond each time.
 * Local time without a zone has confused the scripts of users of other tools.
 */
export const instant = (epochMillis: number) => {
  const epochSeconds = Math.round(epochMillis / 1_000)
  return { iso: new Date(epochSeconds * 1_000).toISOString().replace(".000Z", "Z"), epochSeconds }
}

export const unknownCode = "unknown reason"

/** The code of an error of Node. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : unknownCode
