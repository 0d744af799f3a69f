import * as Effect from "effect/Effect"

// The lines of the log. Each docstring says when its line is logged, and when again, for the reference table.

/** Each process requests its own tokens. Again: after the store has worked. */
export const storeUnusable = (code: string, where: string, advice: string) =>
  Effect.logWarning(
    `The shared store of access tokens cannot be used (${code}). This process requests its own tokens from ` +
      `${where} until the store works again. ${advice}`
  )

/** A stored value was changed, or another version has written it. Again: never. */
export const valueUnusable = (where: string) =>
  Effect.logWarning(
    `The shared store contains a value for ${where} that cannot be decrypted: it was changed, or has another version. It is ` +
      "ignored, and the next token replaces it. Check who else can write to the store."
  )

/** The store works again after faults. Again: each time. */
export const storeWorks = (where: string) =>
  Effect.logInfo(`The shared store of access tokens for ${where} works again.`)
