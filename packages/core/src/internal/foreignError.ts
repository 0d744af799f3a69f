import * as Predicate from "effect/Predicate"
import { printable, printableCode } from "./foreignText.ts"

// A foreign error can contain anything. undici's parser errors contain the raw bytes of the connection, `node:http` errors
// contain a packet, and errors of a user's client contain the whole request.

/** The maximum number of nested causes that are copied. */
const maxDepth = 8

const textOf = (error: object, name: "name" | "message" | "code", secrets: ReadonlyArray<string>) => {
  const value: unknown = Predicate.hasProperty(error, name) ? error[name] : undefined
  if (!Predicate.isString(value) || value === "") return undefined
  return name === "message" ? printable(value, secrets) : printableCode(value, secrets)
}

/** What remains of a foreign error: name, message and code, and the same parts of its cause. */
class ForeignError extends Error {
  readonly code: string | undefined

  constructor(error: object, secrets: ReadonlyArray<string>, depth: number) {
    const next: unknown = Predicate.hasProperty(error, "cause") && error.cause !== undefined
      ? error.cause
      : Predicate.hasProperty(error, "errors") && Array.isArray(error.errors)
      ? error.errors[0]
      : undefined
    const cause = depth < maxDepth ? foreignError(next, secrets, depth + 1) : undefined
    super(textOf(error, "message", secrets) ?? "", cause === undefined ? {} : { cause })
    this.name = textOf(error, "name", secrets) ?? "Error"
    this.code = textOf(error, "code", secrets)
    // the stack would only show where the error was copied
    this.stack = `${this.name}: ${this.message}`
  }
}

/** A copy of an error that is safe to pass on. Of each text, the ordinary words remain. Any value that is neither is dropped. */
export const foreignError = (error: unknown, secrets: ReadonlyArray<string>, depth = 0): unknown =>
  Predicate.isString(error)
    ? printable(error, secrets)
    : Predicate.isObject(error)
    ? new ForeignError(error, secrets, depth)
    : undefined
