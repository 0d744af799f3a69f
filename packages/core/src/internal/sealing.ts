import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ClientCredentials } from "../ClientCredentials.ts"
import type { Sealing } from "../TokenEndpoint.ts"
import * as configuration from "./configuration.ts"

/** A shorter secret could be guessed by someone who has a sealed token and tries one secret after another. */
const shortestSecret = 32

const bytes = (text: string) => new TextEncoder().encode(text)

/** What a shared store needs of a client, derived from its secret. `what` is everything else that decides which token is issued. */
export const make = Effect.fnUntraced(function*(
  { clientId, clientSecret }: ClientCredentials,
  what: ReadonlyArray<unknown>
): Effect.fn.Return<Sealing, ConfigError.ConfigError> {
  const secret = Redacted.value(clientSecret)
  if (secret.length < shortestSecret) {
    return yield* Effect.fail(configuration.invalid(
      ["credentials", "clientSecret"],
      `Expected at least ${shortestSecret} characters, because tokens are shared under a key that is derived from the client secret`
    ))
  }
  const key = yield* Effect.promise(() => crypto.subtle.importKey("raw", bytes(secret), "HKDF", false, ["deriveBits"]))
  const derive = (salt: Uint8Array, purpose: string) =>
    Effect.map(
      Effect.promise(() =>
        crypto.subtle.deriveBits(
          { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(salt), info: bytes(`credit-data ${purpose} 1`) },
          key,
          256
        )
      ),
      (bits) => new Uint8Array(bits)
    )
  const name = yield* derive(bytes(JSON.stringify([clientId, ...what])), "name")
  return {
    name: Array.from(name, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    deriveKey: (salt) => derive(salt, "key")
  }
})
