import { assert, describe, it } from "@effect/vitest"
import { withoutSecrets } from "../src/internal/printable.ts"

describe("a secret at the end of what is kept of a text", () => {
  const most = 100
  const secret = "Zq7*v~K(x)' 9!+/ü😀-secret"
  const long = "Zq7*v~K.x)".repeat(50)
  const escaped = (text: string) =>
    Array.from(new TextEncoder().encode(text), (byte) => `%${byte.toString(16)}`).join("")
  const forms: ReadonlyArray<readonly [name: string, of: (value: string) => string]> = [
    ["plain", (value) => value],
    ["encoded as far as possible", escaped],
    ["encoded for a URL", encodeURIComponent],
    ["in Base64", (value) => Buffer.from(value).toString("base64")],
    ["in encoded Base64", (value) => encodeURIComponent(Buffer.from(value).toString("base64"))]
  ]
  for (const [name, of] of forms) {
    it(`is replaced where the text is cut, ${name}`, () => {
      for (const value of [secret, long]) {
        for (let before = most - 60; before < most; before++) {
          const shown = withoutSecrets(`${"-".repeat(before)}${of(value)} after`, [value], most)
          // the last characters of a Base64 form depend on what follows
          assert.match(shown, /^-+<redacted>\S{0,6}( a?f?t?e?r?)?$/, `${before}`)
          assert.strictEqual(shown.indexOf("<"), before)
        }
      }
    })
  }

  it("leaves no part of a secret that begins behind it", () => {
    assert.strictEqual(withoutSecrets(`${"-".repeat(most)}${secret}`, [secret], most), "-".repeat(most))
    assert.strictEqual(
      withoutSecrets(`${secret}${"-".repeat(most)}`, [secret], most),
      `<redacted>${"-".repeat(most - secret.length)}`
    )
  })

  it("is replaced once where its forms overlap", () => {
    assert.strictEqual(withoutSecrets("abcdabcd abcdab", ["abcd", "abcdab", "cdab"]), "<redacted> <redacted>")
  })
})
