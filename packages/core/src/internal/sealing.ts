import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as configuration from "./configuration.ts"

/** A shorter secret could be guessed by someone who has a sealed token and tries one secret after another. */
const shortestSecret = 32

/** Derives keys from this client secret. */
export const make = (clientSecret: Redacted.Redacted): Effect.Effect<
  (salt: Uint8Array<ArrayBuffer>, info: Uint8Array<ArrayBuffer>) => Effect.Effect<ArrayBuffer>,
  ConfigError.ConfigError
> => {
  const secret = Redacted.value(clientSecret)
  return secret.length < shortestSecret
    ? Effect.fail(configuration.invalid(
      ["credentials", "clientSecret"],
      `Expected at least ${shortestSecret} characters, to seal shared tokens`
    ))
    : Effect.map(
      Effect.promise(() =>
        crypto.subtle.importKey("raw", new TextEncoder().encode(secret), "HKDF", false, ["deriveBits"])
      ),
      (key) => (salt, info) =>
        Effect.promise(() => crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, 256))
    )
}
