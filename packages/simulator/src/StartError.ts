/**
 * Why the simulator did not start as a program.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"

/**
 * Why the program did not start.
 *
 * @since 1.0.0
 * @category errors
 */
export class StartError extends Data.TaggedError("StartError")<{ readonly message: string }> {}
