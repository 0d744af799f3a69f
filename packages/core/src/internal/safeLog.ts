import * as Effect from "effect/Effect"

// A logger that throws does not end the effect that logs.
const safe = (log: Effect.Effect<void>): Effect.Effect<void> => Effect.catchAllCause(log, () => Effect.void)

export const logDebug = (message: string): Effect.Effect<void> => safe(Effect.logDebug(message))

export const logInfo = (message: string): Effect.Effect<void> => safe(Effect.logInfo(message))

export const logWarning = (message: string): Effect.Effect<void> => safe(Effect.logWarning(message))

export const logError = (message: string): Effect.Effect<void> => safe(Effect.logError(message))
