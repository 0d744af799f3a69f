import { within } from "@credit-data/core/Internal"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"

/** Effects for which no caller waits. */
export interface Background {
  /** Begins the effect, even when the scope has closed. */
  readonly run: (effect: Effect.Effect<void>) => Effect.Effect<void>
  /** Waits until nothing is under way any more, but not for long. */
  readonly idle: Effect.Effect<void>
}

/** A scope that closes waits this long for what is under way, and then interrupts it. */
const patience = "250 millis"

/** As long as one operation of a store may take. */
const longestWait = "600 millis"

export const make: Effect.Effect<Background, never, Scope.Scope> = Effect.gen(function*() {
  const fibers = yield* FiberSet.make<void>()
  let isClosed = false
  const wait = (duration: typeof patience | typeof longestWait) =>
    FiberSet.awaitEmpty(fibers).pipe(within(duration, () => undefined), Effect.ignore)
  yield* Effect.addFinalizer(() =>
    Effect.ensuring(
      wait(patience),
      Effect.sync(() => {
        isClosed = true
      })
    )
  )
  return {
    run: (effect) => Effect.suspend(() => isClosed ? effect : Effect.asVoid(FiberSet.run(fibers, effect))),
    idle: wait(longestWait)
  }
})
