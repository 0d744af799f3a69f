import * as Data from "effect/Data"

/** Why the program did not start. */
export class StartError extends Data.TaggedError("StartError")<{ readonly message: string }> {}
