import * as Redacted from "effect/Redacted"

const maxLength = 200

/** The forms in which a server that echoes what it got would show the secret. */
const forms = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams([["", secret]]).toString().slice(1),
  JSON.stringify(secret).slice(1, -1)
]

const plain = (text: string) => text.replace(/\s/g, " ").replace(/\p{C}/gu, "").replace(/ +/g, " ").trim()

/** Text from a server, fit to be printed: without what terminals obey, without the secret, and short. */
export const printable = (text: string, secret: Redacted.Redacted): string => {
  const scrubbed = forms(Redacted.value(secret)).map(plain).filter((form) => form !== "")
    .reduce((rest, form) => rest.replaceAll(form, "<redacted>"), plain(text))
  const characters = Array.from(scrubbed)
  return characters.length <= maxLength ? scrubbed : `${characters.slice(0, maxLength - 1).join("")}…`
}
