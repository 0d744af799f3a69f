import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { plain } from "./plain.ts"

/** Runs an effect here, because this package is the edge of an Effect program: its callers cannot. */
export const settle = async <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
  const exit = await Effect.runPromiseExit(effect)
  if (Exit.isSuccess(exit)) return exit.value
  throw plain(Cause.squash(exit.cause))
}
