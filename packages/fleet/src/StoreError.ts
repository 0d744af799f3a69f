/**
 * The failure of a store operation.
 *
 * @since 1.0.0
 */
import { ownMessage } from "@credit-data/core/Internal"
import * as Schema from "effect/Schema"

const what = { Unavailable: "cannot be reached", Timeout: "did not respond in time", Refused: "refused an operation" }

/**
 * Why an operation of a store failed. `Unavailable`: the store cannot be reached. `Timeout`: it did not respond in time.
 * `Refused`: it returned an error, for example because it is full or read-only.
 *
 * @since 1.0.0
 * @category errors
 */
export class StoreError extends ownMessage(
  Schema.TaggedError<StoreError>("@credit-data/fleet/StoreError")("StoreError", {
    reason: Schema.Literal("Unavailable", "Timeout", "Refused"),
    /** The code of the cause, such as `ECONNREFUSED` or `OOM`. Never the text of a response. */
    code: Schema.String,
    /** What to do about it, for the engineer on call, if the store provides advice. */
    hint: Schema.optional(Schema.String)
  })
) {
  /**
   * Equal to the tag. Error monitors group by it.
   *
   * @since 1.0.0
   */
  override get name(): string {
    return "StoreError"
  }

  /**
   * What happened. An own property, so that `structuredClone` and `postMessage` copy it.
   *
   * @since 1.0.0
   */
  override readonly message: string = `The shared store ${what[this.reason]}: ${this.code}.`
}
