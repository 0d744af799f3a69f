import * as Redacted from "effect/Redacted"

/** Replaces secrets and tokens in text that is shown to people. */
export interface Mask {
  /** From now on, this secret is replaced too. */
  readonly add: (secret: Redacted.Redacted) => void
  readonly mask: (text: string) => string
}

const replacement = "***"

/** The text of a token, as the authorization servers build it. */
const token = /simulated\.V[12]\.\d+\.[0-9a-z]+/g

/** The characters that the secret has in base64, whatever stands before it: `client:secret`, for example. */
const base64Of = (secret: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(secret)
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
    const [from, to] = [Math.ceil(before * 8 / 6), Math.floor(text.length * 8 / 6)]
    return [text.toString("base64").slice(from, to), text.toString("base64url").slice(from, to)]
  })
}

/** The forms in which a secret arrives: as it is, in URLs and forms, in JSON, and in base64. */
const formsOf = (secret: string): ReadonlyArray<string> =>
  [
    ...new Set([
      secret,
      encodeURIComponent(secret),
      encodeURIComponent(secret).replace(/%../g, (escape) => escape.toLowerCase()),
      new URLSearchParams([["", secret]]).toString().slice(1),
      JSON.stringify(secret).slice(1, -1),
      ...base64Of(secret),
      Buffer.from(secret).toString("hex")
    ])
  ].filter((form) => form !== "")

export const make = (secret: Redacted.Redacted): Mask => {
  const forms = new Set(formsOf(Redacted.value(secret)))
  return {
    add: (secret) => {
      for (const form of formsOf(Redacted.value(secret))) forms.add(form)
    },
    mask: (text) => {
      let masked = text.replace(token, replacement)
      for (const form of forms) masked = masked.replaceAll(form, replacement)
      return masked
    }
  }
}
