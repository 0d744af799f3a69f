import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import { ConfigError } from "../Failure.ts"

interface EffectConfigError {
  readonly toString: () => string
}

const isConfigError = (failure: unknown): failure is EffectConfigError => Predicate.isTagged(failure, "ConfigError")

/** Every failure as itself, except for Effect's `ConfigError`: Effect 3's is not an `Error`, and Node would not print its text. */
export const toError = (failure: unknown): unknown =>
  isConfigError(failure) ? new ConfigError(String(failure)) : failure

/** Runs an effect here, because this package is the edge of an Effect program: its callers cannot. */
export const settle = async <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
  const exit = await Effect.runPromiseExit(effect)
  if (Exit.isSuccess(exit)) return exit.value
  throw toError(Cause.squash(exit.cause))
}
