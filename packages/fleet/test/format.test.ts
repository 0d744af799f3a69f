import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Envelope from "../src/internal/envelope.ts"
import { entryOf } from "./support/fleet.ts"

// Processes of several versions share a store while a fleet is updated, so these values must not change without another
// version of the format.
const name = "00752b39e490c991ac981b10d8a4cb625b31ae9dfa7066336ded04b583669880"
const envelope =
  "02f25c6f8ced62e626a3f0f2cc81f3b5aa8b1facb519edd28a93b8730615d3765f8373e3a6570c86f1120410a26e13de52e01a"
/** Version 1, which had no end of a token's life by the clock of its process. */
const old = {
  name: "5c3691c0aa6587e8658bfab954db90a5501330bb1bf9cb325c0779f3a7ea6b16",
  envelope: "01cb1c1adaf6b3fa3c03dde9c19bbc0d2dec5205bf67a0e77c43bec936b60753d6d68c79f8b2ae64cab2529aaf0d5d8407132d"
}
const place = { slot: "Token", fence: 7 } as const

const fromHex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))

describe("the format of the store", () => {
  it.effect("has the same name of an entry in all versions", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* entryOf({})).name, name)
    }))

  it.effect("has envelopes that all versions open, and no others", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const bytes = fromHex(envelope)
      assert.deepStrictEqual(yield* Envelope.open(entry, place, bytes), Option.some("a text"))
      for (let index = 0; index < bytes.length; index++) {
        const changed = bytes.slice()
        changed[index] = (changed[index] ?? 0) ^ 1
        assert.isTrue(Option.isNone(yield* Envelope.open(entry, place, changed)), `byte ${index}`)
        assert.isTrue(Option.isNone(yield* Envelope.open(entry, place, bytes.slice(0, index))), `${index} bytes`)
      }
    }))

  it.effect("has other entries and envelopes than the version before it, so that neither reads the other", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      assert.notStrictEqual(entry.name, old.name)
      assert.isTrue(Option.isNone(yield* Envelope.open({ ...entry, name: old.name }, place, fromHex(old.envelope))))
    }))

  it.effect("has a new salt and a new nonce in each envelope", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const headers = yield* Effect.forEach([1, 2, 3], () =>
        Effect.map(Envelope.seal(entry, place, "a text"), (bytes) => [
          bytes.slice(1, 17).join(),
          bytes.slice(17, 29).join()
        ]))
      assert.strictEqual(new Set(headers.flat()).size, 6)
    }))
})
