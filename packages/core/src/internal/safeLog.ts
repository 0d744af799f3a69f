import * as Effect from "effect/Effect"

/** Logs a warning. A logger that throws takes nothing else with it. */
export const logWarning = (message: string): Effect.Effect<void> =>
  Effect.catchAllCause(Effect.logWarning(message), () => Effect.void)
