import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as Transport from "../src/internal/transportFailure.ts"

/** The visible parts of an error that is passed on. */
const kept = (error: unknown, ...secrets: ReadonlyArray<string>): unknown => {
  const copy = Transport.foreignError(error, secrets.map((secret) => Redacted.make(secret)))
  return copy instanceof Error && "code" in copy
    ? { name: copy.name, message: copy.message, code: copy.code, cause: kept(copy.cause), stack: copy.stack }
    : copy
}

describe("a foreign error", () => {
  it("only the texts of a foreign error are kept, and other values are dropped", () => {
    for (const nothing of [undefined, null, 42, Symbol("a"), true]) {
      assert.isUndefined(Transport.foreignError(nothing, []))
    }
    assert.strictEqual(Transport.foreignError("a text", []), "a text")
    assert.strictEqual(Transport.foreignError("a\u001b[31mtext", []), "a\\u{1b}[31mtext")
    const error = Transport.foreignError({ message: 42, code: {}, name: "" }, [])
    assert(error instanceof Error)
    assert.deepInclude<object>({ ...error }, { name: "Error", code: undefined })
    assert.strictEqual(error.message, "")
    assert.isUndefined(error.cause)
  })

  it("at most eight nested causes of a foreign error are kept", () => {
    let deep = new Error("one")
    for (let depth = 1; depth < 20; depth++) deep = new Error("more", { cause: deep })
    let depth = 0
    for (let error: unknown = Transport.foreignError(deep, []); error instanceof Error; error = error.cause) depth++
    assert.strictEqual(depth, 9)
  })

  it("a foreign error keeps its name, message and code, and its cause's name, message and code", () => {
    const cause = Object.assign(new TypeError("the cause"), { code: "EPIPE", request: "hidden" })
    const error = Object.assign(new RangeError("the message", { cause }), { code: "ECONNRESET", request: "hidden" })
    assert.deepStrictEqual(kept(error), {
      name: "RangeError",
      message: "the message",
      code: "ECONNRESET",
      stack: "RangeError: the message",
      cause: {
        name: "TypeError",
        message: "the cause",
        code: "EPIPE",
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

  it("a foreign error without a cause gets none", () => {
    const copy = Transport.foreignError(new Error("a message"), [])
    assert(copy instanceof Error)
    assert.notProperty(copy, "cause")
  })

  it("the secrets in each text of a foreign error are replaced", () => {
    const error = Object.assign(new Error("it was first-secret"), { name: "second-secret", code: "first-secret" })
    assert.deepInclude(kept(error, "first-secret", "second-secret"), {
      name: "<redacted>",
      message: "it was <redacted>",
      code: "<redacted>"
    })
    assert.deepInclude(kept(error, "another-secret"), { name: "second-secret", code: "first-secret" })
  })
})
