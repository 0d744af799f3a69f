import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

// Finds a secret in a foreign text, also when the text shows the secret encoded. The cost is linear in the length of the text
// and of the secrets: no regular expression is built from a secret, and positions are not compared pairwise.

/** A text that shares this many consecutive characters with a secret shows too much of the secret. */
const runLength = 12

/** A run of twelve characters of a secret covers at least one of its aligned blocks of six. */
const blockLength = runLength / 2

/** The maximum number of nested encodings that are undone. */
const maxRounds = 8

const utf8 = new TextDecoder()

const fromHex = (digits: string): string =>
  utf8.decode(Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16)))

const character = (codePoint: number): string => codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : ""

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'" }

/** Undoes one layer of percent-encoding, of the escapes of JSON, and of HTML entities. */
const unescapeOnce = (text: string): string =>
  !/[%\\&]/.test(text) ? text : text
    .replace(/(?:%[\da-f]{2})+/gi, (run) => fromHex(run.replaceAll("%", "")))
    .replace(
      /\\(?:u([\da-f]{4})|x([\da-f]{2})|([^ux]))/gis,
      (_, unicode: string | undefined, hex: string | undefined, plain: string) =>
        unicode ?? hex ? character(parseInt(unicode ?? hex ?? "", 16)) : /[bfnrt]/.test(plain) ? " " : plain
    )
    .replace(
      /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi,
      (_, hex: string | undefined, decimal: string | undefined, name: string) =>
        hex !== undefined
          ? character(parseInt(hex, 16))
          : decimal === undefined
          ? entities[name.toLowerCase()] ?? ""
          : character(Number(decimal))
    )

/** The text, and the result after each layer of escapes is undone. */
const unescaped = (text: string): ReadonlyArray<string> => {
  const forms = [text]
  for (let last = text; forms.length <= maxRounds;) {
    const next = unescapeOnce(last)
    if (next === last) break
    forms.push(next)
    last = next
  }
  return forms
}

const fromBase64 = (run: string): string =>
  Encoding.decodeBase64(run.padEnd(Math.ceil(run.length / 4) * 4, "=")).pipe(
    Either.match({ onLeft: () => "", onRight: (bytes) => utf8.decode(bytes) })
  )

/** Decodes the runs of hexadecimal and base64 digits in a text, from every offset that changes the result. */
const decodedRuns = (text: string): ReadonlyArray<string> => [
  ...(text.match(/[\da-f]{8,}/gi) ?? []).flatMap((run) => [0, 1].map((offset) => fromHex(run.slice(offset)))),
  ...(text.match(/[\w+/-]{8,}/g) ?? []).flatMap((run) => {
    const digits = run.replaceAll("-", "+").replaceAll("_", "/")
    return [0, 1, 2, 3].map((offset) => {
      const aligned = digits.slice(offset)
      return fromBase64(aligned.length % 4 === 1 ? aligned.slice(0, -1) : aligned)
    })
  })
]

/** Removes what an encoding or a printer may change: case, kind and number of blanks, `+` for a blank, invisible characters. */
const normal = (text: string): string => {
  const lower = text.toLowerCase()
  const blanks = /[\s+]/.test(lower) ? lower.replace(/[\s+]+/g, " ").trim() : lower
  return /[^\x20-\x7e]/.test(blanks) ? blanks.replace(/\p{C}/gu, "") : blanks
}

const pieces = (texts: ReadonlyArray<string>, length: number): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const text of texts) {
    for (let at = 0; at + length <= text.length; at++) found.add(text.slice(at, at + length))
  }
  return found
}

/** A hash of the six characters at a position. Comparing hashes first avoids most comparisons of texts. */
const hashAt = (text: string, at: number): number => {
  let hash = 0
  for (let index = at; index < at + blockLength; index++) hash = (hash * 31 + text.charCodeAt(index)) & 0xffff
  return hash
}

const hashesOf = (blocks: Iterable<string>): Uint8Array => {
  const hashes = new Uint8Array(0x10000)
  for (const block of blocks) hashes[hashAt(block, 0)] = 1
  return hashes
}

interface Searched {
  readonly hashes: Uint8Array
  readonly runs: ReadonlySet<string>
}

const sharesRun = (secret: string, { hashes, runs }: Searched): boolean => {
  for (let at = 0; at + blockLength <= secret.length; at += blockLength) {
    if (hashes[hashAt(secret, at)] !== 1) continue
    for (let start = Math.max(0, at - blockLength); start <= at; start++) {
      if (runs.has(secret.slice(start, start + runLength))) return true
    }
  }
  return false
}

/** The secret itself, and the secret without the escapes that it may contain. */
const formsOf = (secret: string): ReadonlyArray<string> =>
  Array.from(new Set([secret, ...unescaped(secret).slice(-1)]), normal)

/** Does a text show one of the secrets, or twelve consecutive characters of one, encoded or not? */
export const shows = (text: string, secrets: ReadonlyArray<string>): boolean => {
  if (text === "" || secrets.length === 0) return false
  const plain = unescaped(text)
  const forms = [...plain, ...plain.flatMap(decodedRuns).flatMap(unescaped)].map(normal)
  const searched = { hashes: hashesOf(pieces(forms, blockLength)), runs: pieces(forms, runLength) }
  return secrets.some((secret) =>
    formsOf(secret).some((form) =>
      form !== "" &&
      (form.length < runLength ? forms.some((each) => each.includes(form)) : sharesRun(form, searched))
    )
  )
}
