import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"

// The lines of the log. Each docstring says when its line is logged, and when again, for the reference table.

/** An update of the metrics has failed. Again: each time. */
export const notUpdated = (cause: Cause.Cause<unknown>) =>
  Effect.logWarning("Metrics of the token supply could not be updated.", cause)
