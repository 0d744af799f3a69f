import * as Predicate from "effect/Predicate"
import { printable } from "./serverText.ts"

// Errors that somebody else made hold what they like: undici's parser the raw bytes of the connection, an error of `node:http`
// a packet, an error of a user's client the whole request.

/** No chain of causes is followed further. */
const maxDepth = 8

const textOf = (error: object, name: "name" | "message" | "code", secrets: ReadonlyArray<string>) => {
  const value: unknown = Predicate.hasProperty(error, name) ? error[name] : undefined
  return Predicate.isString(value) && value !== "" ? printable(value, secrets) : undefined
}

/** What remains of a foreign error: name, message, code, and its cause likewise. */
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
    // the place where an error was copied explains nothing
    this.stack = `${this.name}: ${this.message}`
  }
}

/**
 * A copy of an error that is safe to pass on. Of anything else only a text is kept. Every text is cut, and withheld where it
 * shows one of the secrets.
 */
export const foreignError = (error: unknown, secrets: ReadonlyArray<string>, depth = 0): unknown =>
  Predicate.isString(error)
    ? printable(error, secrets)
    : Predicate.isObject(error)
    ? new ForeignError(error, secrets, depth)
    : undefined
