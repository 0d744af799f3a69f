import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import * as Envelope from "../src/internal/envelope.ts"
import { entryOf } from "./support/fleet.ts"
import { one, setUp } from "./support/virtualFleet.ts"

// Processes of several versions share a store while a fleet is updated, so these values must not change without another
// version of the format.
const name = "dddc6ee0a037de38c47ca251ea873d583a7f5b2b52df58b442d0933b89e80085"
const envelope =
  "0373cd842aba865f910a3eec557c86ecd945dc2bc94541f6d171b5a6caa84afb7dea09269cf7d7efdab84076cef2e5da5eab75665b262283182c5c6b8a2b9fb" +
  "fe0aceefdf58137c4a9a4aa1cf3763754649c6a3403946f1a317a5635f41304004451a2eb874df7c548814d7a3cf63be4fc0fed76e9f4eb31a3a5f85761d28cc006b1bd"
/** The entry and the envelope of version 2. */
const old = {
  name: "00752b39e490c991ac981b10d8a4cb625b31ae9dfa7066336ded04b583669880",
  envelope: "02f25c6f8ced62e626a3f0f2cc81f3b5aa8b1facb519edd28a93b8730615d3765f8373e3a6570c86f1120410a26e13de52e01a"
}
const fence = 7
const content: Envelope.Content = {
  token: { secret: "a token", scopes: [], expiresAt: 1, endsAt: 2, lifetimeMillis: 3 }
}

const opened = (entry: Envelope.Entry, value: { readonly bytes: Uint8Array; readonly fence: number }) =>
  Envelope.opened(entry, { value: Option.some(value) })

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
      assert.deepStrictEqual(opened(entry, { bytes, fence }), Option.some(content))
      for (let index = 0; index < bytes.length; index++) {
        const changed = bytes.slice()
        changed[index] = (changed[index] ?? 0) ^ 1
        assert.isTrue(Option.isNone(opened(entry, { bytes: changed, fence })), `byte ${index}`)
        assert.isTrue(
          Option.isNone(opened(entry, { bytes: bytes.slice(0, index), fence })),
          `${index} bytes`
        )
      }
    }))

  it.effect("has other entries and envelopes than the version before it, so that neither reads the other", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      assert.notStrictEqual(entry.name, old.name)
      assert.isTrue(
        Option.isNone(opened({ ...entry, name: old.name }, { bytes: fromHex(old.envelope), fence }))
      )
    }))

  it.effect("has a new salt and a new nonce in each envelope", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const headers = yield* Effect.forEach([1, 2, 3], () =>
        Effect.sync(() => {
          const bytes = Envelope.sealed(entry, fence, content)
          return [bytes.slice(1, 17).join(), bytes.slice(17, 29).join()]
        }))
      assert.strictEqual(new Set(headers.flat()).size, 6)
    }))

  for (const version of [2, 4, 255]) {
    it.effect(`replaces an entry of version ${version} once, with one warning`, () =>
      Effect.gen(function*() {
        const { name: own } = yield* entryOf({})
        let published = 0
        const { ask, fleet, pass, server } = yield* setUp({
          size: 3,
          store: (store) => ({
            ...store,
            publish: (name, value) => Effect.tap(store.publish(name, value), () => Effect.sync(() => published++))
          }),
          before: (store) =>
            store.publish(own, {
              bytes: Uint8Array.of(version, ...new Uint8Array(99)),
              fence: 5,
              expiresAt: 1e9,
              owner: ""
            })
        })
        for (let round = 0; round < 3; round++) {
          assert.isTrue((yield* ask(fleet, 1_000)).every(Exit.isSuccess))
          yield* pass(10_000)
        }
        assert.deepStrictEqual([server.server.requests, published], [1, 1])
        // the last process logs only for itself
        const { logs } = one(fleet.slice(-1))
        assert.lengthOf(logs.filter((line) => line.includes("cannot be decrypted")), 1)
      }))
  }
})
