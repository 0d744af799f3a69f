/**
 * Why fixtures cannot be loaded.
 *
 * @since 1.0.0
 */
import { ownMessage } from "@credit-data/core/Internal"
import * as Schema from "effect/Schema"

/**
 * Why fixtures cannot be loaded. The message names the file or the folder.
 *
 * @since 1.0.0
 * @category errors
 */
export class FixtureError extends ownMessage(
  Schema.TaggedError<FixtureError>("@credit-data/simulator/FixtureError")("FixtureError", {
    file: Schema.String,
    reason: Schema.String
  })
) {
  /**
   * What `JSON.stringify` prints.
   *
   * @since 1.0.0
   */
  override toJSON(): object {
    return { ...this, message: this.message }
  }

  /**
   * The same as the tag.
   *
   * @since 1.0.0
   */
  override get name(): string {
    return "FixtureError"
  }

  /**
   * What happened. An own property, so that `structuredClone` copies it.
   *
   * @since 1.0.0
   */
  override readonly message: string = `${this.file}: ${this.reason}`
}
