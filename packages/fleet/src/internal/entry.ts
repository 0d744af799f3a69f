import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"

/** The entry of a client in the store, and the keys for its envelopes. */
export interface Entry {
  /** 64 hexadecimal digits. */
  readonly name: string
  /** Derives the key of one envelope. */
  readonly deriveKey: (salt: Uint8Array<ArrayBuffer>) => Effect.Effect<ArrayBuffer>
}

/** The version of what is stored: of the names, of the keys and of the bytes. Processes with another version see nothing. */
export const formatVersion = 2

const info = (purpose: string) => new TextEncoder().encode(`credit-data ${purpose} ${formatVersion}`)

/** All that decides which tokens a token endpoint issues, other than the secret. */
const tokensOf = ({ environment, requestedScopes, url }: TokenEndpoint.Service, client: TokenEndpoint.Client) =>
  new TextEncoder().encode(JSON.stringify([
    url,
    client.id,
    environment.audience,
    Option.getOrNull(Option.map(requestedScopes, (scopes) => scopes.toSorted()))
  ]))

/**
 * The entry of a token endpoint with its present credentials. The name is derived from the secret too, so a rotated secret starts
 * another entry, and client ids cannot be guessed without the secret.
 */
export const make = (
  endpoint: TokenEndpoint.Service,
  client: TokenEndpoint.Client
): Effect.Effect<Entry, ConfigError.ConfigError> =>
  Effect.suspend(() => {
    // of the same credentials as the keys, which may be read again while these are derived
    const tokens = tokensOf(endpoint, client)
    return Effect.flatMap(client.sealing, (sealing) =>
      Effect.map(sealing(tokens, info("name")), (name) => ({
        name: Encoding.encodeHex(new Uint8Array(name)),
        deriveKey: (salt) => sealing(salt, info("envelope"))
      })))
  })
