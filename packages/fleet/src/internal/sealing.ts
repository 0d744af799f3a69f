import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"

// What is stored under a client secret: the version (1 byte), a salt (16), a nonce (12), and text under AES-256-GCM with its tag (RFC 5116).
// Each envelope has its own key, derived from the client secret with the salt (RFC 5869). The command opens it without loading Effect.

/** The version of what is stored: of the names, of the keys and of the bytes. Each version has its own entries. */
const formatVersion = 3

/** A shorter secret could be guessed by someone who has a sealed token and tries one secret after another. */
export const shortestSecret = 32

const saltSize = 16
const tagSize = 16
const headerSize = 1 + saltSize + 12

const derive = (secret: string, purpose: string, salt: string | Uint8Array) =>
  Buffer.from(hkdfSync("sha256", secret, salt, `credit-data ${purpose} ${formatVersion}`, 32))

/** A name in the store, 64 hexadecimal digits, from which a text cannot be guessed without the secret. */
export const nameOfText = (secret: string, text: string): string => derive(secret, "name", text).toString("hex")

/** The name of a client's entry. It is derived from the secret too, so a rotated secret starts another entry. */
export const nameOf = (
  secret: string,
  issued: {
    readonly url: string
    readonly clientId: string
    readonly audience: string
    readonly scopes: ReadonlyArray<string>
  }
): string =>
  nameOfText(secret, JSON.stringify([issued.url, issued.clientId, issued.audience, issued.scopes.toSorted()]))

/** Where an envelope belongs. It opens nowhere else. */
interface Place {
  readonly secret: string
  readonly name: string
  readonly fence: number
}

const parameters = ({ fence, name, secret }: Place, header: Uint8Array) => ({
  algorithm: "aes-256-gcm",
  key: derive(secret, "envelope", header.subarray(1, 1 + saltSize)),
  nonce: header.subarray(1 + saltSize, headerSize),
  additionalData: Buffer.from(`${formatVersion} ${name} ${fence}`)
} as const)

export const seal = (place: Place, text: string): Uint8Array => {
  const header = Buffer.concat([Uint8Array.of(formatVersion), randomBytes(headerSize - 1)])
  const { additionalData, algorithm, key, nonce } = parameters(place, header)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(additionalData)
  return Uint8Array.from(Buffer.concat([header, cipher.update(text), cipher.final(), cipher.getAuthTag()]))
}

/** The text. Nothing if it has another version, was sealed with another secret or at another place, or was changed. */
export const open = (place: Place, bytes: Uint8Array): string | undefined => {
  if (bytes.length < headerSize + tagSize || bytes[0] !== formatVersion) return undefined
  const { additionalData, algorithm, key, nonce } = parameters(place, bytes)
  const decipher = createDecipheriv(algorithm, key, nonce).setAAD(additionalData).setAuthTag(bytes.subarray(-tagSize))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(headerSize, -tagSize)), decipher.final()]).toString()
  } catch {
    return undefined
  }
}
