import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
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

const info = (purpose: string) => new TextEncoder().encode(`credit-data ${purpose} 2`)

/** All that decides which tokens a token endpoint issues, other than the secret. */
const tokensOf = ({ clientId, environment, requestedScopes, url }: TokenEndpoint.Service) =>
  new TextEncoder().encode(JSON.stringify([
    url,
    clientId,
    environment.audience,
    Option.getOrNull(Option.map(requestedScopes, (scopes) => scopes.toSorted()))
  ]))

/**
 * The entry of a token endpoint with its present credentials. The name is derived from the secret too, so a rotated secret starts
 * another entry, and nobody can try client ids without the secret.
 */
export const make = (endpoint: TokenEndpoint.Service, sealing: TokenEndpoint.Sealing): Effect.Effect<Entry> =>
  Effect.map(sealing(tokensOf(endpoint), info("name")), (name) => ({
    name: Encoding.encodeHex(new Uint8Array(name)),
    deriveKey: (salt) => sealing(salt, info("envelope"))
  }))
