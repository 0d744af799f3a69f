// What others have written becomes text of ours here.

const mask = "<redacted>"

/** A shorter form could be an ordinary word. */
const shortestForm = 4

/** How many characters are kept of a foreign text. A message shows fewer. */
const longestQuote = 1_000

/** The bytes of a text in UTF-8, each as one character. */
const binaryOf = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("")

/** The text in which each `%XX` is decoded, and the place in the text from which each of its characters comes. */
const urlDecoded = (text: string) => {
  const origins: Array<number> = []
  let decoded = ""
  for (const { 0: character, 1: hex, index } of text.matchAll(/%([\dA-F]{2})|[^]/gi)) {
    origins.push(index)
    decoded += hex === undefined ? character : String.fromCharCode(Number.parseInt(hex, 16))
  }
  return { decoded: decoded.replaceAll("+", " "), originOf: (at: number): number => origins[at] ?? text.length }
}

/** Base64 encodes three bytes at a time, so a secret inside a longer text has one of three forms. Only what it decides is kept. */
const base64Forms = (bytes: string): ReadonlyArray<string> =>
  ["", "\0", "\0\0"].flatMap((before) => {
    const whole = btoa(before + bytes).replace(/=+$/, "")
    const form = whole.slice(Math.ceil(before.length * 4 / 3), Math.floor((before.length + bytes.length) * 4 / 3))
    return [form, form.replaceAll("+", "-").replaceAll("/", "_"), encodeURIComponent(form)]
  }).filter((form) => form.length >= shortestForm)

/** Where something begins in a text, and where it ends. */
type Place = readonly [from: number, to: number]

const placesOf = (form: string, text: string): ReadonlyArray<Place> => {
  const places: Array<Place> = []
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
    places.push([at, at + form.length])
  }
  return places
}

/**
 * The first characters of a text, in which each secret is replaced in its plain, URL-encoded and Base64 form, and nothing else is changed.
 *
 * Only as much is searched, and for as much of a secret, as decides about these characters: a search for a long periodic text in
 * another takes a time that is the product of their lengths. A longer secret covers all that follows its beginning.
 */
export const withoutSecrets = (text: string, secrets: ReadonlyArray<string>, most = longestQuote): string => {
  // an encoder makes three characters of one
  const searched = text.slice(0, 4 * most)
  const { decoded, originOf } = urlDecoded(searched)
  const bytesOf = (secret: string) => binaryOf(secret).slice(0, most)
  const places = secrets.filter((secret) => secret !== "").flatMap((secret) => {
    // with a character more than is searched for, because it may be half a character
    const start = secret.slice(0, most + 1)
    const bytes = bytesOf(start)
    // a server can return the form of the token request in Base64
    const inForm = bytesOf(new URLSearchParams([["", start]]).toString().slice(1))
    return [
      ...placesOf(secret.slice(0, most), searched),
      // Encoders differ in what they encode, and whether a space becomes a plus, so the text is decoded.
      ...placesOf(bytes.replaceAll("+", " "), decoded).map(([from, to]): Place => [originOf(from), originOf(to)]),
      ...Array.from(new Set([bytes, inForm].flatMap(base64Forms)), (form) => form.slice(0, most))
        .flatMap((form) => placesOf(form, searched))
    ]
  })
  let shown = ""
  let end = 0
  for (const [from, to] of places.toSorted(([a], [b]) => a - b)) {
    if (from >= most) break
    if (from >= end) shown += text.slice(end, from) + mask
    end = Math.max(end, to)
  }
  return shown + text.slice(end, most)
}

/** Control and bidirectional characters, line breaks, and halves of a character. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const escaped = (character: string): string => {
  const known = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character]
  return known ?? `\\u{${character.codePointAt(0)?.toString(16)}}`
}

/** Makes the beginning of a foreign text printable, on one line. */
export const printableUpTo = (most: number) => (text: string): string => {
  const shown = text.slice(0, most + 1).replace(unprintable, escaped)
  return shown.length <= most ? shown : `${shown.slice(0, most - 1)}…`
}

/** The beginning of a foreign text, on one line. */
export const printable = printableUpTo(300)

/** The id of a client as logs, spans and metrics show it. It is public (contract, section 2), and chosen by others. */
export const shownClientId = printableUpTo(64)

/** The environment, and the client for which its tokens are requested: one environment can have several. */
export const clientOf = (environment: string, clientId: string | undefined): string =>
  clientId === undefined ? environment : `${environment}, client ${shownClientId(clientId)}`

const mostScopes = 10

/** The first scopes of a list. The server chooses how many there are, and how long each name is. */
export const firstScopes = (scopes: ReadonlyArray<string>): ReadonlyArray<string> =>
  scopes.slice(0, mostScopes).map(printable)

/** A list of scopes. */
export const printableScopes = (scopes: ReadonlyArray<string>): string => {
  const others = scopes.length - mostScopes
  return firstScopes(scopes).join(", ") + (others > 0 ? ` and ${others} more` : "")
}
