/**
 * Why fixtures cannot be used.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"

/**
 * Why fixtures cannot be used. The message names the file, and the place in it.
 *
 * @since 1.0.0
 * @category errors
 */
export class FixtureError extends Data.TaggedError("FixtureError")<{
  readonly file: string
  readonly reason: string
}> {
  override get message(): string {
    return `${this.file}: ${this.reason}`
  }
}
