import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import type { Scheduler } from "effect/Scheduler"

/** Resumes a fiber in the context of whoever resumes it, instead of with all others that are resumed at the same time. */
const immediately: Scheduler = { scheduleTask: (task) => task(), shouldYield: () => false }

/**
 * Runs an effect that waits for what others do. Afterwards, also when it was interrupted, the fiber goes on in the `AsyncLocalStorage`
 * context in which it began. Effect 3 alone would go on in the context of what has ended the wait.
 */
export const inOwnContext = <A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let wake = constVoid
    let resume = constVoid
    // the reaction to a native promise runs in the context in which `then` was called
    void new Promise<void>((resolve) => void (wake = resolve)).then(() => resume())
    const back = Effect.async<void>((done) => {
      resume = () => done(Effect.void)
      wake()
    })
    return Effect.ensuring(wait, Effect.withScheduler(back, immediately))
  })
