import { within } from "@credit-data/core/Unstable"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"

/** A scope that closes waits this long for what is under way. */
const patience = "250 millis"

/** Runs effects for which nobody waits but the scope, in which they are always begun. */
export const make: Effect.Effect<(effect: Effect.Effect<void>) => Effect.Effect<void>, never, Scope.Scope> = Effect.gen(
  function*() {
    const fibers = yield* FiberSet.make<void>()
    let isClosed = false
    yield* Effect.addFinalizer(() =>
      FiberSet.awaitEmpty(fibers).pipe(
        within(patience, () => undefined),
        Effect.ignore,
        Effect.ensuring(Effect.sync(() => {
          isClosed = true
        }))
      )
    )
    return (effect) => Effect.suspend(() => isClosed ? effect : Effect.asVoid(FiberSet.run(fibers, effect)))
  }
)
