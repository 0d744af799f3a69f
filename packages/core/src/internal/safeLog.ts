import * as Effect from "effect/Effect"

/** Logs a warning. A logger that throws does not end the effect that logs. */
export const logWarning = (message: string): Effect.Effect<void> =>
  Effect.catchAllCause(Effect.logWarning(message), () => Effect.void)
