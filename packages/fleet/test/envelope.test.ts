import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Option } from "effect"
import * as Envelope from "../src/internal/envelope.ts"
import { entryOf } from "./support/fleet.ts"

const place = { slot: "Token", fence: 7 } as const
const text = "the text of a token"

describe("an envelope", () => {
  it.effect("opens with the same secret at the same place", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const bytes = yield* Envelope.seal(entry, place, text)
      assert.deepStrictEqual(yield* Envelope.open(yield* entryOf({}), place, bytes), Option.some(text))
    }))

  it.effect("does not show its text, and is never the same twice", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const [first, second] = [yield* Envelope.seal(entry, place, text), yield* Envelope.seal(entry, place, text)]
      assert.notInclude(Buffer.from(first).toString("latin1"), "token")
      assert.notDeepEqual(first.subarray(1, 29), second.subarray(1, 29))
      assert.notDeepEqual(first.subarray(29), second.subarray(29))
    }))

  it.effect("does not open with another secret, client, audience, endpoint or scope", () =>
    Effect.gen(function*() {
      const bytes = yield* Envelope.seal(yield* entryOf({}), place, text)
      const others = [
        { secret: "another secret of at least 32 characters" },
        { clientId: "another-client" },
        { audience: "another-audience" },
        { authV2Url: "https://another.example" },
        { scopes: ["furnishment:all"] }
      ] as const
      const names = new Set<string>()
      for (const other of others) {
        const entry = yield* entryOf(other)
        names.add(entry.name)
        assert.isTrue(Option.isNone(yield* Envelope.open(entry, place, bytes)), JSON.stringify(other))
      }
      assert.strictEqual(names.size, others.length)
      assert.isFalse(names.has((yield* entryOf({})).name))
    }))

  it.effect("does not open at another place", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const bytes = yield* Envelope.seal(entry, place, text)
      assert.isTrue(Option.isNone(yield* Envelope.open(entry, { ...place, fence: 8 }, bytes)))
      assert.isTrue(Option.isNone(yield* Envelope.open(entry, { ...place, slot: "Failure" }, bytes)))
      assert.isTrue(Option.isNone(yield* Envelope.open({ ...entry, name: "a".repeat(64) }, place, bytes)))
    }))

  it("does not open when one bit was flipped", async () => {
    const position = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    const flipped = (position: number, bit: number) =>
      Effect.gen(function*() {
        const entry = yield* entryOf({})
        const bytes = yield* Envelope.seal(entry, place, text)
        const index = Math.floor(position * bytes.length)
        bytes[index] = (bytes[index] ?? 0) ^ (1 << bit)
        assert.isTrue(Option.isNone(yield* Envelope.open(entry, place, bytes)))
      })
    await fc.assert(fc.asyncProperty(position, fc.nat(7), (position, bit) => Effect.runPromise(flipped(position, bit))))
  })

  it.effect("does not open with another version", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const bytes = yield* Envelope.seal(entry, place, text)
      for (const version of [0, 1, 3]) {
        bytes[0] = version
        assert.isTrue(Option.isNone(yield* Envelope.open(entry, place, bytes)), String(version))
      }
    }))

  it.effect("does not open when it was cut or is something else", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const bytes = yield* Envelope.seal(entry, place, text)
      for (let length = 0; length < bytes.length; length++) {
        assert.isTrue(Option.isNone(yield* Envelope.open(entry, place, bytes.subarray(0, length))))
      }
      assert.isTrue(Option.isNone(yield* Envelope.open(entry, place, new Uint8Array(100_000))))
    }))

  it.effect("a secret of fewer than 32 characters has no key", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(entryOf({ secret: "s".repeat(31) }))
      assert.match(String(error), /credentials.*clientSecret.*Expected at least 32 characters/)
      yield* entryOf({ secret: "s".repeat(32) })
    }))
})
