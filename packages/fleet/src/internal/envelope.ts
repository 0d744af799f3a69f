import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Slot } from "../TokenStore.ts"
import { type Entry, formatVersion } from "./entry.ts"

// Bytes in the store: version (1 byte), salt (16), nonce (12), and the text under AES-256-GCM with its tag (RFC 5116). Each envelope
// has its own key, derived from the client secret with the salt.

const saltSize = 16
const nonceSize = 12
const headerSize = 1 + saltSize + nonceSize

/** Where an envelope belongs. It opens nowhere else. */
export interface Place {
  readonly slot: Slot
  readonly fence: number
}

const utf8 = new TextEncoder()

const cipher = Effect.fnUntraced(function*(entry: Entry, { fence, slot }: Place, header: Uint8Array<ArrayBuffer>) {
  const bytes = yield* entry.deriveKey(header.slice(1, 1 + saltSize))
  const key = yield* Effect.promise(() =>
    crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"])
  )
  return {
    key,
    algorithm: {
      name: "AES-GCM",
      iv: header.slice(1 + saltSize),
      additionalData: utf8.encode(`${formatVersion} ${entry.name} ${slot} ${fence}`)
    }
  }
})

/** Seals a text. */
export const seal = Effect.fnUntraced(function*(
  entry: Entry,
  place: Place,
  text: string
): Effect.fn.Return<Uint8Array> {
  const header = new Uint8Array(headerSize)
  crypto.getRandomValues(header)
  header[0] = formatVersion
  const { algorithm, key } = yield* cipher(entry, place, header)
  const sealed = yield* Effect.promise(() => crypto.subtle.encrypt(algorithm, key, utf8.encode(text)))
  const bytes = new Uint8Array(headerSize + sealed.byteLength)
  bytes.set(header)
  bytes.set(new Uint8Array(sealed), headerSize)
  return bytes
})

/** Opens an envelope. None if it was sealed with another secret or for another place, or if it was changed. */
export const open = Effect.fnUntraced(function*(
  entry: Entry,
  place: Place,
  bytes: Uint8Array
): Effect.fn.Return<Option.Option<string>> {
  if (bytes.length <= headerSize || bytes[0] !== formatVersion) return Option.none()
  const { algorithm, key } = yield* cipher(entry, place, new Uint8Array(bytes.subarray(0, headerSize)))
  const sealed = new Uint8Array(bytes.subarray(headerSize))
  return yield* Effect.option(
    Effect.tryPromise(async () => new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, sealed)))
  )
})
