import * as Redacted from "effect/Redacted"

// Requests are shown unchanged except for their secrets, because a developer wants to see what the program sent. This module therefore
// searches for secrets that the simulator issued itself and whose form it knows.

const replacement = "***"

/** A client secret after a rotation. Its form is recognizable, so that all of them can be found. */
export const rotatedSecret = (random: number): string => `simulated-secret-${random.toString(36).padStart(23, "0")}`

/** The tokens and the rotated secrets, as they are issued. */
const issued = /simulated\.V[12]\.\d+\.[0-9a-z]+|simulated-secret-[0-9a-z]{23}/

/** How each of them begins. */
const beginnings = ["simulated.V1.", "simulated.V2.", "simulated-secret-"]

/** The characters that a text has in base64, whatever stands before it: `client:secret`, for example. */
const base64Of = (text: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
    const [from, to] = [Math.ceil(before * 8 / 6), Math.floor(bytes.length * 8 / 6)]
    return [bytes.toString("base64").slice(from, to), bytes.toString("base64url").slice(from, to)]
  })

/** Shorter parts would be found in texts that have nothing to do with a secret. */
const shortestPart = 8

const decode = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))

/** The text without the escapes of URLs and forms, and without those of characters in JSON. */
const plain = (text: string) =>
  text.replaceAll("+", " ").replace(/%([0-9a-f]{2})/gi, decode).replace(/\\+u([0-9a-f]{4})/gi, decode)

/** Finds any of the texts, also in JSON, which adds backslashes before some characters. */
const anyOf = (texts: ReadonlyArray<string>, flags?: string) =>
  new RegExp(
    texts.map((text) => text.replace(/\\+|[^\w\\]/g, (sign) => sign.startsWith("\\") ? "\\\\+" : `\\\\*\\${sign}`))
      .join("|"),
    flags
  )

/** Replaces the client secret, and all rotated secrets and tokens, in text that is shown to people. */
export const make = (clientSecret: Redacted.Redacted): (text: string) => string => {
  const secret = Redacted.value(clientSecret)
  const known = [secret, ...beginnings].filter((text) => text !== "")
  const long = (part: string) => part.length >= shortestPart
  const found = new RegExp([issued.source, ...(secret === "" ? [] : [secret.replace(/\W/g, "\\$&")])].join("|"), "g")
  const encoded = anyOf([...known.map(plain), ...known.flatMap(base64Of).filter(long)])
  const hexadecimal = anyOf(known.map((text) => Buffer.from(text).toString("hex")).filter(long), "i")

  return (text) => {
    const masked = text.replace(found, replacement)
    const decoded = plain(masked)
    const has = encoded.test(decoded) || hexadecimal.test(decoded) || (decoded !== masked && encoded.test(masked))
    return has ? replacement : masked
  }
}
