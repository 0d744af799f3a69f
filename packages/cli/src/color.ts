import { styleText } from "node:util"

/** Colour is for people only: on a terminal, unless `NO_COLOR` is set (https://no-color.org). */
export const hasColor = ({ isTTY }: { readonly isTTY?: boolean }): boolean =>
  isTTY === true && (process.env["NO_COLOR"] ?? "") === "" && process.env["TERM"] !== "dumb"

type Color = "green" | "red" | "yellow" | "dim" | "bold"

/** Text of standard output in a colour that has a meaning. */
export const colored = (color: Color, text: string): string =>
  hasColor(process.stdout) ? styleText(color, text, { validateStream: false }) : text

/** The character with which the sequences that steer a terminal begin. */
export const escape = String.fromCharCode(27)

/** Does the locale show more than ASCII? Without a locale, POSIX means ASCII. On Windows, terminals show Unicode. */
export const hasUnicode = (): boolean => {
  const { LANG, LC_ALL, LC_CTYPE, TERM } = process.env
  const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== "") ?? "C"
  return TERM !== "dumb" && (process.platform === "win32" || /utf-?8/i.test(locale))
}
