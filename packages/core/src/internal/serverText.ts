import * as Encoding from "effect/Encoding"
import * as RegExp from "effect/RegExp"

const maxLength = 200

const html = (text: string) =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;").replace(/'/g, "&#39;")

/** The forms in which a server that echoes what it got would show a secret. */
const forms = (secret: string): ReadonlyArray<string> => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams([["", secret]]).toString().slice(1),
  JSON.stringify(secret).slice(1, -1),
  html(secret),
  Encoding.encodeBase64(secret),
  Encoding.encodeBase64Url(secret)
]

const plain = (text: string) => text.replace(/\s/g, " ").replace(/\p{C}/gu, "").replace(/ +/g, " ").trim()

/** Finds the secrets in a text that is plain, in any of their forms, and however their letters are written. */
const pattern = (secrets: ReadonlyArray<string>): globalThis.RegExp => {
  const found = secrets.flatMap(forms).map(plain).filter((form) => form !== "")
  // the longest first, for one form may begin with another
  return new globalThis.RegExp(
    found.toSorted((a, b) => b.length - a.length).map(RegExp.escape).join("|") || "(?!)",
    "giu"
  )
}

/** Does a text show one of the secrets? */
export const shows = (text: string, secrets: ReadonlyArray<string>): boolean => pattern(secrets).test(plain(text))

/** Text from a server, fit to be printed: without what terminals obey, without the secrets, and short. */
export const printable = (text: string, secrets: ReadonlyArray<string>): string => {
  const scrubbed = plain(text).replace(pattern(secrets), "<redacted>")
  const characters = Array.from(scrubbed)
  return characters.length <= maxLength ? scrubbed : `${characters.slice(0, maxLength - 1).join("")}…`
}
