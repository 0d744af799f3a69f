// What others have written becomes text of ours here. The data itself is kept as it came.

const mask = "<redacted>"

/** A shorter form could be an ordinary word. */
const shortestForm = 4

const lowerHex = (text: string): string => text.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase())

/** Base64 encodes three bytes at a time, so a secret inside a longer text has one of three forms. Only what it decides is kept. */
const base64Forms = (secret: string): ReadonlyArray<string> => {
  const bytes = new TextEncoder().encode(secret)
  return [0, 1, 2].flatMap((offset) => {
    const shifted = new Uint8Array(offset + bytes.length)
    shifted.set(bytes, offset)
    const whole = btoa(Array.from(shifted, (byte) => String.fromCharCode(byte)).join("")).replace(/=+$/, "")
    const form = whole.slice(Math.ceil(offset * 4 / 3), Math.floor(shifted.length * 4 / 3))
    return [form, form.replaceAll("+", "-").replaceAll("/", "_"), encodeURIComponent(form)]
  })
}

const formsOf = (secret: string): ReadonlyArray<string> => {
  const encoded = [encodeURIComponent(secret), new URLSearchParams([["", secret]]).toString().slice(1)]
  const others = [...encoded, ...encoded.map(lowerHex), ...base64Forms(secret)]
  return [...new Set([secret, ...others.filter((form) => form.length >= shortestForm)])]
}

/** Replaces each secret in its plain, URL-encoded and Base64 form, and nothing else. */
export const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.filter((secret) => secret !== "").flatMap(formsOf)
    // a form can be a part of another one
    .toSorted((a, b) => b.length - a.length)
    .reduce((current, form) => current.replaceAll(form, mask), text)

const mostCharacters = 300

/** Control and bidirectional characters, line breaks, and halves of a character. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const escaped = (character: string): string => {
  const known = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character]
  return known ?? `\\u{${character.codePointAt(0)?.toString(16)}}`
}

/** The beginning of a foreign text, on one line. */
export const printable = (text: string): string => {
  const shown = text.slice(0, mostCharacters + 1).replace(unprintable, escaped)
  return shown.length <= mostCharacters ? shown : `${shown.slice(0, mostCharacters - 1)}…`
}

const mostScopes = 10

/** A list of scopes. The server chooses how many there are, and how long each name is. */
export const printableScopes = (scopes: ReadonlyArray<string>): string => {
  const others = scopes.length - mostScopes
  return scopes.slice(0, mostScopes).map(printable).join(", ") + (others > 0 ? ` and ${others} more` : "")
}
