import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { hkdfSync } from "node:crypto"
import * as Sealing from "../src/internal/sealing.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("the keys for sealing", () => {
  it.effect("are derived from the client secret with HKDF and SHA-256 (RFC 5869)", () =>
    Effect.gen(function*() {
      const secret = "s".repeat(32)
      const derive = yield* Sealing.make(Redacted.make(secret))
      const key = yield* derive(bytes("salt"), bytes("info"))
      assert.deepStrictEqual(
        new Uint8Array(key),
        new Uint8Array(hkdfSync("sha256", bytes(secret), bytes("salt"), bytes("info"), 32))
      )
      assert.notDeepEqual(new Uint8Array(yield* derive(bytes("other"), bytes("info"))), new Uint8Array(key))
    }))

  it.effect("need a secret of at least 32 characters, and the error does not show it", () =>
    Effect.gen(function*() {
      const error = String(yield* Effect.flip(Sealing.make(Redacted.make("a-canary".padEnd(31, "x")))))
      assert.match(error, /credentials.*clientSecret.*Expected at least 32 characters, to seal shared tokens/)
      assert.notInclude(error, "canary")
    }))
})
