import { Effect, Scheduler } from "effect"

/** The most steps that our client may add to a call of the platform's client. */
export const mostAdded = 7

/** How many steps Effect's interpreter takes for an effect: before each step, its runtime asks whether to yield. */
export const countSteps = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let count = 0
    const scheduler: Scheduler.Scheduler = {
      shouldYield: () => {
        count++
        return false
      },
      scheduleTask: (task, priority, fiber) => Scheduler.defaultScheduler.scheduleTask(task, priority, fiber)
    }
    return Effect.map(Effect.exit(Effect.withScheduler(effect, scheduler)), () => count)
  })
