import * as Effect from "effect/Effect"

/** A logger that throws does not end what logs. */
export const safeLog = (log: Effect.Effect<void>): Effect.Effect<void> => Effect.catchAllCause(log, () => Effect.void)
