// What others have written becomes text of ours here. The data itself is kept as it came.

const mask = "<redacted>"

/** A shorter form could be an ordinary word. */
const shortestForm = 4

/** The bytes of a text in UTF-8, each as one character. */
const binaryOf = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("")

/**
 * Replaces a secret that is encoded for a URL or a form. Encoders differ in what they encode, and whether a space becomes a plus, so the
 * text is decoded. A pattern with all encodings of a long token would be too large for V8.
 */
const withoutEncoded = (text: string, secret: string): string => {
  /** Where each `%XX` is in the decoded text. It has two characters more than what it encodes. */
  const escapes: Array<number> = []
  const decoded = text.replaceAll(/%([\dA-F]{2})/gi, (_, hex: string, at: number) => {
    escapes.push(at - 2 * escapes.length)
    return String.fromCharCode(Number.parseInt(hex, 16))
  }).replaceAll("+", " ")
  const wanted = binaryOf(secret).replaceAll("+", " ")
  let passed = 0
  const inText = (index: number): number => {
    while ((escapes[passed] ?? index) < index) passed++
    return index + 2 * passed
  }
  let kept = ""
  let from = 0
  for (let at = decoded.indexOf(wanted); at >= 0; at = decoded.indexOf(wanted, at + wanted.length)) {
    kept += text.slice(from, inText(at)) + mask
    from = inText(at + wanted.length)
  }
  return kept + text.slice(from)
}

/** Base64 encodes three bytes at a time, so a secret inside a longer text has one of three forms. Only what it decides is kept. */
const base64Forms = (secret: string): ReadonlyArray<string> => {
  const bytes = binaryOf(secret)
  return ["", "\0", "\0\0"].flatMap((before) => {
    const whole = btoa(before + bytes).replace(/=+$/, "")
    const form = whole.slice(Math.ceil(before.length * 4 / 3), Math.floor((before.length + bytes.length) * 4 / 3))
    return [form, form.replaceAll("+", "-").replaceAll("/", "_"), encodeURIComponent(form)]
  })
}

interface Form {
  readonly length: number
  readonly replacedIn: (text: string) => string
}

const formsOf = (secret: string): ReadonlyArray<Form> => {
  // a server can return the form of the token request in Base64
  const inForm = new URLSearchParams([["", secret]]).toString().slice(1)
  const inBase64 = new Set([secret, inForm].flatMap(base64Forms))
  return [
    { length: secret.length, replacedIn: (text) => withoutEncoded(text.replaceAll(secret, mask), secret) },
    ...Array.from(inBase64)
      .filter((form) => form.length >= shortestForm)
      .map((form) => ({ length: form.length, replacedIn: (text: string) => text.replaceAll(form, mask) }))
  ]
}

/** Replaces each secret in its plain, URL-encoded and Base64 form, and nothing else. */
export const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.filter((secret) => secret !== "").flatMap(formsOf)
    // a form can be a part of another one
    .toSorted((a, b) => b.length - a.length)
    .reduce((current, { replacedIn }) => replacedIn(current), text)

/** Control and bidirectional characters, line breaks, and halves of a character. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const escaped = (character: string): string => {
  const known = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character]
  return known ?? `\\u{${character.codePointAt(0)?.toString(16)}}`
}

const atMost = (most: number) => (text: string): string => {
  const shown = text.slice(0, most + 1).replace(unprintable, escaped)
  return shown.length <= most ? shown : `${shown.slice(0, most - 1)}…`
}

/** The beginning of a foreign text, on one line. */
export const printable = atMost(300)

/** The id of a client as logs, spans and metrics show it. It is public (contract, section 2), and chosen by others. */
export const shownClientId = atMost(64)

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
