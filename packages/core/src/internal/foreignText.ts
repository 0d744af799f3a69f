import { vocabulary } from "./vocabulary.ts"

// Foreign text is shown only as far as it consists of words that are known to be harmless. A secret can be encoded in more ways than a
// search could ever undo, but no encoding of it consists of these words. Only a passphrase does, so the literal secret is searched too.

const maxLength = 200

/** Enough text to show `maxLength` characters, even if most of it is withheld. */
const maxRead = 10 * maxLength

const repeatsSecret = "(withheld: it repeats a secret or a token)"

const isNoText = "(withheld: it is not plain text)"

/** Stands for words that are not shown. */
const gap = "…"

let words: ReadonlySet<string> | undefined

/** The words are read when a text arrives, because most programs never print one. */
const isListed = (word: string): boolean => (words ??= new Set(vocabulary.trim().split(/\s+/))).has(word)

/** Whole terms that are no words, and codes of a well-known server. */
const term = /^(?:application\/(?:json|x-www-form-urlencoded)|oauth ?2(?:\.0)?|[45]\d\d|aadsts\d{4,7})$/i

const isWord = (word: string): boolean => {
  const lower = word.toLowerCase()
  return isListed(lower) ||
    ["s", "es", "d", "ed", "ing", "ly"].some((ending) => {
      if (!lower.endsWith(ending)) return false
      const stem = lower.slice(0, -ending.length)
      return stem.length > 2 && (isListed(stem) || (ending === "ing" && isListed(`${stem}e`)))
    })
}

/** The words of `client_id`, `re-issued`, `don't`, `grant_type/scope` and `InvalidClient`. */
const partsOf = (core: string): ReadonlyArray<string> =>
  core.replace(/n't\b|'s\b/g, "").split(/[-_/':.=]|(?<=[a-z])(?=[A-Z])/).filter((part) => part !== "")

/** A word as it is shown, with the punctuation around it; or nothing. */
const shownWord = (word: string): string | undefined => {
  const [, before = "", core = "", after = ""] =
    /^(["'([<]{0,2})([a-z\d][a-z\d_/':.=-]*?)([\])>"'.,:;!?]{0,3})$/i.exec(word) ??
      []
  if (core === "" || core.length > 64) return undefined
  const isKnown = term.test(core) || (/^\D+$/.test(core) && partsOf(core).every(isWord))
  return isKnown ? `${before}${core}${after}` : undefined
}

const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")

/** A text that shares this many consecutive letters with a secret shows too much of the secret. */
const runLength = 12

const longestSearched = 4 * 1024

/** Does a text show a secret, or twelve consecutive letters of it, whatever stands between them? Linear in both lengths. */
export const shows = (text: string, secrets: ReadonlyArray<string>): boolean => {
  const shown = letters(text)
  const runs = new Set(
    Array.from({ length: Math.max(0, shown.length - runLength + 1) }, (_, at) => shown.slice(at, at + runLength))
  )
  return secrets.some((secret) => {
    // longer ones are tokens, and the beginning of a token is enough
    const hidden = letters(secret.slice(0, longestSearched))
    if (hidden.length < runLength) return hidden !== "" && shown.includes(hidden)
    for (let at = 0; runs.size > 0 && at + runLength <= hidden.length; at++) {
      if (runs.has(hidden.slice(at, at + runLength))) return true
    }
    return false
  })
}

/**
 * The beginning of a foreign text, safe to print: its ordinary words. Other words are left out. The whole is withheld if it repeats one of
 * the secrets, or if most of it is no text.
 */
export const printable = (text: string, secrets: ReadonlyArray<string>): string => {
  const beginning = text.slice(0, maxRead)
  const given = beginning.split(/[\s\p{C}]+/u).filter((word) => word !== "")
  let shown = ""
  let known = 0
  let read = 0
  for (const word of given) {
    const next = shownWord(word)
    if (next === undefined && shown.endsWith(gap)) {
      read++
      continue
    }
    const longer = `${shown}${shown === "" ? "" : " "}${next ?? gap}`
    if (longer.length > maxLength - 2) {
      shown = shown.endsWith(gap) ? shown : `${shown} ${gap}`
      break
    }
    read++
    if (next !== undefined) known++
    shown = longer
  }
  if (shows(beginning, secrets)) return repeatsSecret
  return known * 2 >= read ? shown : isNoText
}

/** A code of ordinary words, such as `invalid_client` or `ECONNRESET`; or a note that it is withheld. */
export const printableCode = (code: string, secrets: ReadonlyArray<string>): string => {
  const isKnown = code.length <= 64 && /^[a-z_.:-]+$/i.test(code) && partsOf(code).every(isWord)
  return !isKnown ? isNoText : shows(code, secrets) ? repeatsSecret : code
}

/**
 * A scope as it is shown: lower-case words that may end with a few digits, such as `read:credit.auto.score.vantage3`. The grammar allows
 * what scopes look like and no encoding of a secret, because V1's scopes are not listed anywhere.
 */
export const printableScope = (scope: string): string =>
  scope.length <= 64 && /^[a-z]{1,24}\d{0,3}(?:[:._/-][a-z]{1,24}\d{0,3})*$/.test(scope) ? scope : "(withheld)"
