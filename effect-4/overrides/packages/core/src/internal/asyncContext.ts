import type * as Effect from "effect/Effect"

/** A fiber of Effect 4 goes on in its own `AsyncLocalStorage` context. */
export const inOwnContext = <A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => wait
