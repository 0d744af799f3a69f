import { shows } from "./echo.ts"

const maxLength = 200

/** Enough text to show `maxLength` characters, even if most of it is blanks and control characters. */
const maxRead = 10 * maxLength

const withheld = "(withheld: it repeats a secret or a token)"

const plain = (text: string) => text.replace(/\s/g, " ").replace(/\p{C}/gu, "").replace(/ +/g, " ").trim()

/** The beginning of a foreign text, safe to print: short, and without characters that control a terminal. */
const beginning = (text: string): string => {
  const characters = Array.from(plain(text.slice(0, maxRead)))
  return characters.length <= maxLength ? characters.join("") : `${characters.slice(0, maxLength - 1).join("")}…`
}

/** The beginning of a foreign text. If it shows one of the secrets, the whole text is withheld. */
export const printable = (text: string, secrets: ReadonlyArray<string>): string => {
  const shown = beginning(text)
  return shows(shown, secrets) ? withheld : shown
}
