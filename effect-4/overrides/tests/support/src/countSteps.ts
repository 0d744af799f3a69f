import { Effect, Scheduler } from "effect"

/** The most steps that our client may add to a call of the platform's client. */
export const mostAdded = 21

/** How many steps Effect's interpreter takes for an effect: before each step, its runtime asks whether to yield. */
export const countSteps = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Scheduler.Scheduler, (current) => {
    let count = 0
    const scheduler: Scheduler.Scheduler = {
      executionMode: current.executionMode,
      shouldYield: () => {
        count++
        return false
      },
      makeDispatcher: () => current.makeDispatcher()
    }
    return Effect.map(Effect.exit(Effect.provideService(effect, Scheduler.Scheduler, scheduler)), () => count)
  })
