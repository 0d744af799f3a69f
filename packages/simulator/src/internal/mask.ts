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

/** The forms in which a secret arrives: as it is, in URLs and forms, in JSON, and in base64. */
const formsOf = (secret: string): ReadonlyArray<string> =>
  [
    ...new Set([
      secret,
      encodeURIComponent(secret),
      encodeURIComponent(secret).replace(/%../g, (escape) => escape.toLowerCase()),
      new URLSearchParams([["", secret]]).toString().slice(1),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString("base64").replace(/=+$/, ""),
      Buffer.from(secret).toString("base64url"),
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
