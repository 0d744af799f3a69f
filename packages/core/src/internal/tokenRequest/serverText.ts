import { shows } from "./echo.ts"

const maxLength = 200

/** More than enough for what is shown, should most of it be blanks and control characters. */
const maxRead = 10 * maxLength

const withheld = "(withheld: it repeats a secret or a token)"

const plain = (text: string) => text.replace(/\s/g, " ").replace(/\p{C}/gu, "").replace(/ +/g, " ").trim()

/** The beginning of a text that somebody else wrote, fit to be printed: short, and without what terminals obey. */
const beginning = (text: string): string => {
  const characters = Array.from(plain(text.slice(0, maxRead)))
  return characters.length <= maxLength ? characters.join("") : `${characters.slice(0, maxLength - 1).join("")}…`
}

/** The same, unless it shows one of the secrets: then none of it is printed. */
export const printable = (text: string, secrets: ReadonlyArray<string>): string => {
  const shown = beginning(text)
  return shows(shown, secrets) ? withheld : shown
}
