// What a store contains. The command reads it without loading Effect, which takes longer than everything else that it does.

/** The time in which a part of a value is used. `endsAt` is a time of the store's clock, which does not depend on any process. */
export interface Life {
  readonly endsAt: number
  readonly lifetimeMillis: number
}

/** The part of a stored token that the command reads. */
export interface StoredToken extends Life {
  /** By the clock of the process that publishes. The clock of the store can be set too. */
  readonly expiresAt: number
  readonly secret: string
  readonly scopes: ReadonlyArray<string>
}

/** A value as a store of files has it. */
export interface StoredValue {
  readonly fence: number
  readonly expiresAt: number
  readonly bytes: Uint8Array
}

/** The fields of a JSON object, which may be anything. Nothing if it is something else. */
const fieldsOf = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return Object.fromEntries(Object.entries(Object(JSON.parse(text))))
  } catch {
    return {}
  }
}

const isToken = (value: unknown): value is StoredToken => {
  const { endsAt, expiresAt, lifetimeMillis, scopes, secret }: Readonly<Record<string, unknown>> = Object(value)
  return [endsAt, expiresAt, lifetimeMillis].every(Number.isFinite) && typeof secret === "string" &&
    Array.isArray(scopes) && scopes.every((each) => typeof each === "string")
}

/** The token in the text of an opened envelope. */
export const tokenIn = (text: string): StoredToken | undefined => {
  const { token } = fieldsOf(text)
  return isToken(token) ? token : undefined
}

export const encodeValue = ({ bytes, expiresAt, fence }: StoredValue): string =>
  JSON.stringify({ fence, expiresAt, bytes: Buffer.from(bytes).toString("base64") })

export const decodeValue = (text: string): StoredValue | undefined => {
  const { bytes, expiresAt, fence } = fieldsOf(text)
  return typeof bytes === "string" && typeof expiresAt === "number" && Number.isSafeInteger(fence)
    ? { fence: Number(fence), expiresAt, bytes: Buffer.from(bytes, "base64") }
    : undefined
}

/** Times by clocks that agree differ by at most this, because they are rounded, and run at different speeds. */
const roundingMillis = 1_000

/** Whether a part is alive at this time of the store's clock. It never lives longer than when it was written. */
export const isAlive = ({ endsAt, lifetimeMillis }: Life, storeNow: number): boolean =>
  storeNow < endsAt && endsAt - storeNow <= lifetimeMillis + roundingMillis
