import * as Effect from "effect/Effect"
import type { Stage } from "../Plan.ts"

// The lines of the log. Each docstring says when its line is logged, and when again, for the reference table.

/** The layer of the migration is built. Again: never. */
export const planRead = (stage: Stage) => Effect.logInfo(`The plan of the migration is ${stage}.`)

/** Another version is used from now on. Again: each time. */
export const planChanged = (before: Stage, stage: Stage) =>
  Effect.logInfo(`The plan of the migration has changed from ${before} to ${stage}.`)

/** The previous plan remains in effect. Again: if the fault changes. */
export const planNotRead = (fault: string, before: Stage) =>
  Effect.logWarning(
    `The plan of the migration could not be read again: ${fault}. The previous plan remains in use: ${before}. ` +
      "Correct it; it is read again at the next interval."
  )
