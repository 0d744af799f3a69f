import * as Redacted from "effect/Redacted"
import type { Received } from "../Received.ts"
import type { Limit } from "./history.ts"

/** How much of a body the journal keeps, in bytes. */
const longest = 64 * 1024

/** How much of all bodies together the journal keeps, in bytes. */
const most = 32 * 1024 * 1024

const nothing = Redacted.make(new Uint8Array())

/** The beginning of a body. A cut body is copied, or the journal would keep all of it in memory. */
export const beginning = (body: Uint8Array): Uint8Array => body.byteLength > longest ? body.slice(0, longest) : body

const sizeOf = (body: Redacted.Redacted<Uint8Array>) => Redacted.value(body).byteLength

/** What the bodies in the journal may weigh. */
export const limit: Limit<Received> = {
  most,
  weightOf: ({ body, outcome }) => sizeOf(body) + (outcome._tag === "Responded" ? sizeOf(outcome.body) : 0),
  lighten: (received) => ({
    ...received,
    body: nothing,
    outcome: received.outcome._tag === "Responded" ? { ...received.outcome, body: nothing } : received.outcome
  })
}

/** The beginning of a body that arrives in parts, and its size. */
export interface Collected {
  readonly add: (part: Uint8Array) => void
  readonly body: () => Uint8Array
  readonly size: () => number
}

export const collect = (): Collected => {
  const parts: Array<Uint8Array> = []
  let size = 0
  return {
    add: (part) => {
      // a part may be a view of a buffer that its owner uses again
      if (size < longest) parts.push(part.slice(0, longest - size))
      size += part.byteLength
    },
    body: () => new Uint8Array(Buffer.concat(parts)),
    size: () => size
  }
}
