import { Transport } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"

/** The visible parts of an error that is passed on. */
const kept = (error: unknown, ...secrets: ReadonlyArray<string>): unknown => {
  const copy = Transport.foreignError(error, secrets.map((secret) => Redacted.make(secret)))
  return copy instanceof Error && "code" in copy
    ? { name: copy.name, message: copy.message, code: copy.code, cause: kept(copy.cause), stack: copy.stack }
    : copy
}

const withheld = "(withheld: it repeats a secret or a token)"

describe("a foreign error", () => {
  it("only the texts of a foreign error are kept, and other values are dropped", () => {
    for (const nothing of [undefined, null, 42, Symbol("a"), true]) {
      assert.isUndefined(Transport.foreignError(nothing, []))
    }
    assert.strictEqual(Transport.foreignError("a text", []), "a text")
    const error = Transport.foreignError({ message: 42, code: {}, name: "" }, [])
    assert(error instanceof Error)
    assert.deepInclude<object>({ ...error }, { name: "Error", code: undefined })
    assert.strictEqual(error.message, "")
    assert.isUndefined(error.cause)
  })

  it("at most eight nested causes of a foreign error are kept", () => {
    let deep = new Error("0")
    for (let depth = 1; depth < 20; depth++) deep = new Error(String(depth), { cause: deep })
    let depth = 0
    for (let error: unknown = Transport.foreignError(deep, []); error instanceof Error; error = error.cause) depth++
    assert.strictEqual(depth, 9)
  })

  it("a foreign error keeps its name, message and code, and those of its cause", () => {
    const cause = Object.assign(new TypeError("the cause"), { code: "ECAUSE", request: "hidden" })
    const error = Object.assign(new RangeError("the message", { cause }), { code: "ECODE", request: "hidden" })
    assert.deepStrictEqual(kept(error), {
      name: "RangeError",
      message: "the message",
      code: "ECODE",
      stack: "RangeError: the message",
      cause: {
        name: "TypeError",
        message: "the cause",
        code: "ECAUSE",
        stack: "TypeError: the cause",
        cause: undefined
      }
    })
  })

  it("the first of several errors becomes the cause, unless the foreign error has a cause", () => {
    const errors = [new Error("the first"), new Error("the second")]
    const nameOfCause = (error: object) => {
      const copy = Transport.foreignError(error, [])
      return copy instanceof Error && copy.cause instanceof Error
        ? copy.cause.message
        : copy instanceof Error && copy.cause
    }
    assert.strictEqual(nameOfCause({ errors }), "the first")
    assert.strictEqual(nameOfCause({ errors, cause: new Error("its own") }), "its own")
    assert.strictEqual(nameOfCause({ errors, cause: undefined }), "the first")
    assert.isUndefined(nameOfCause({ errors: "none" }))
    assert.isUndefined(nameOfCause({ others: errors }))
  })

  it("a foreign error without a cause stays without a cause", () => {
    const copy = Transport.foreignError(new Error("a message"), [])
    assert(copy instanceof Error)
    assert.notProperty(copy, "cause")
  })

  it("each text of a foreign error is withheld when it shows one of several secrets", () => {
    const error = Object.assign(new Error("it was first-secret"), { name: "second-secret", code: "first-secret" })
    assert.deepInclude(kept(error, "first-secret", "second-secret"), {
      name: withheld,
      message: withheld,
      code: withheld
    })
    assert.deepInclude(kept(error, "another-secret"), { name: "second-secret", code: "first-secret" })
  })
})

describe("a secret in a foreign text", () => {
  const isWithheld = (text: string, secret = "the-secret-of-the-client") =>
    Transport.foreignError(text, [Redacted.make(secret)]) === withheld

  it("any twelve consecutive characters of a secret are found", () => {
    const secret = "abcdefghijklmnopqrstuvwxyz"
    for (let at = 0; at + 12 <= secret.length; at++) {
      assert.isTrue(isWithheld(`<${secret.slice(at, at + 12)}>`, secret), secret.slice(at, at + 12))
      assert.isTrue(isWithheld(secret.slice(at, at + 12), secret))
      assert.isFalse(isWithheld(`<${secret.slice(at, at + 11)}>`, secret), secret.slice(at, at + 11))
    }
  })

  it("a secret of at most twelve characters is found as a whole", () => {
    for (const secret of ["q", "secret", "elevenchars", "twelve-chars"]) {
      assert.isTrue(isWithheld(`it was ${secret}.`, secret), secret)
      assert.isFalse(isWithheld(`it was ${secret.slice(1)}.`, secret), secret)
    }
  })

  it("a secret is found in escapes of JavaScript, JSON, HTML and URLs, in upper and lower case", () => {
    const secret = "Sesame-Öffne-Dich"
    const codes = Array.from(secret, (character) => character.codePointAt(0) ?? 0)
    const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0")
    const forms = {
      unicode: codes.map((code) => `\\u${hex(code, 4)}`).join(""),
      "upper unicode": codes.map((code) => `\\u${hex(code, 4).toUpperCase()}`).join(""),
      hexadecimal: codes.map((code) => `\\x${hex(code, 2)}`).join(""),
      "upper hexadecimal": codes.map((code) => `\\x${hex(code, 2).toUpperCase()}`).join(""),
      "HTML, hexadecimal": codes.map((code) => `&#x${hex(code, 2)};`).join(""),
      "HTML, decimal": codes.map((code) => `&#${code};`).join(""),
      "HTML, long": codes.map((code) => `&#x${hex(code, 6)};`).join(""),
      "escaped for no reason": Array.from(
        secret,
        (character) => /[a-z]/i.test(character) ? character : `\\${character}`
      ).join(
        ""
      ),
      percent: encodeURIComponent(secret),
      "percent, twice": encodeURIComponent(encodeURIComponent(secret))
    }
    for (const [name, form] of Object.entries(forms)) assert.isTrue(isWithheld(form, secret), `${name}: ${form}`)
  })

  it("a secret is found under eight layers of encoding, and not under nine", () => {
    const under = (layers: number) =>
      Array.from({ length: layers - 1 }).reduce(
        (text: string) => text.replaceAll("%", "%25"),
        encodeURIComponent("Sesame-Öffne-Dich")
      )
    assert.isTrue(isWithheld(under(8), "Sesame-Öffne-Dich"))
    assert.isFalse(isWithheld(under(9), "Sesame-Öffne-Dich"))
  })

  it("a secret is found in hexadecimal and base64 digits, at any offset in a run of digits", () => {
    const secret = "s?>s?>s?>-secret-of-the-client"
    const bytes = new TextEncoder().encode(secret)
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
    const base64 = (text: string) => btoa(text)
    for (const before of ["", "a", "ab", "abc", "abcd"]) {
      assert.isTrue(isWithheld(`${before}${hex}`, secret), `hex after ${before}`)
      assert.isTrue(isWithheld(`${before}${hex.toUpperCase()}f`, secret), `upper hex after ${before}`)
      for (const within of ["", "x", "xy"]) {
        const encoded = base64(within + secret)
        assert.isTrue(isWithheld(`${before}${encoded}`, secret), `base64 of ${within} after ${before}`)
        assert.isTrue(
          isWithheld(`${before}${encoded.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`, secret),
          `base64url of ${within} after ${before}`
        )
      }
    }
  })

  it("a secret is found when blanks, case, plus signs and invisible characters differ", () => {
    const secret = " Open Sesame Now "
    for (const form of ["open\tsesame\n now", "OPEN+SESAME+NOW", "open\u200b ses\u00adame now", "open   sesame now"]) {
      assert.isTrue(isWithheld(`it was ${form}.`, secret), form)
    }
  })

  it("a secret that contains escapes is found with and without them", () => {
    const secret = "50%25off%26more\\u0041nd"
    assert.isTrue(isWithheld(`it was ${secret}.`, secret))
    assert.isTrue(isWithheld("it was 50%off&moreAnd.", secret))
    assert.isFalse(isWithheld("it was something else.", secret))
  })

  it("a foreign text without a secret is kept, even with malformed escapes", () => {
    for (const text of ["", "&#x110000; &#x10ffff; \\u{41} \\xzz %zz &unknown; &#9999999;", "deadbeefdeadbeef"]) {
      assert.strictEqual(Transport.foreignError(text, [Redacted.make("the-secret")]), text)
      assert.strictEqual(Transport.foreignError(text, []), text)
    }
    assert.isFalse(isWithheld("a text", ""), "an empty secret is in every text")
  })
})
