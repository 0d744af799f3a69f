/**
 * The failure of an operation of a store.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"

const what = { Unavailable: "cannot be reached", Timeout: "did not answer in time", Refused: "refused an operation" }

/**
 * Why an operation of a store failed. `Unavailable`: the store cannot be reached. `Timeout`: it did not answer in time. `Refused`: it
 * answered with an error, because it is full or read-only, for example.
 *
 * @since 1.0.0
 * @category errors
 */
export class StoreError extends Data.TaggedError("StoreError")<{
  readonly reason: "Unavailable" | "Timeout" | "Refused"
  /** The code of the cause, such as `ECONNREFUSED` or `OOM`. Never the text of an answer, which could hold anything. */
  readonly code: string
  /** What to do about it, for the engineer on call, if the store knows. */
  readonly hint?: string
}> {
  override get message(): string {
    return `The shared store ${what[this.reason]}: ${this.code}.`
  }
}
