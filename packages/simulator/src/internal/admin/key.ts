import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"

/** Text that cannot be guessed. */
export const randomText: Effect.Effect<string> = Effect.sync(() => randomBytes(18).toString("base64url"))

const digest = (text: Redacted.Redacted) => createHash("sha256").update(Redacted.value(text)).digest()

/** Compares two keys in a time that does not depend on where they differ. */
export const isSame = (left: Redacted.Redacted, right: Redacted.Redacted): boolean =>
  timingSafeEqual(digest(left), digest(right))

/** What a key can look like: not empty, and the same in a URL and in a shell. */
export const isKey = (text: string): boolean => /^[\w-]{1,200}$/.test(text)
