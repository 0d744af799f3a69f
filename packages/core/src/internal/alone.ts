import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/**
 * Runs an effect without the services around it, which belong to the program part that happens to run it. Only the span remains in which
 * it runs.
 */
export const alone = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.mapInputContext(effect, Context.pick(Tracer.ParentSpan))
