import * as ClockParts from "@credit-data/test-support/clock"
import { Duration, Effect, Scheduler } from "effect"
import * as EventQueue from "./eventQueue.ts"

/** A clock and a scheduler for real programs. Time passes from one timer to the next, and nothing waits in between. */
export const make = (end: number) => {
  const timers = EventQueue.make<() => void>(end)
  let now = 0
  let tasks: Array<() => void> = []

  const settle = () => {
    while (tasks.length > 0) {
      const ready = tasks
      tasks = []
      for (const task of ready) task()
    }
  }

  const clock = ClockParts.make({
    wallMillis: () => now,
    monotonicNanos: () => BigInt(Math.round(now * 1e6)),
    sleep: (duration) =>
      Effect.async<void>((resume) => timers.add(now + Duration.toMillis(duration), () => resume(Effect.void)))
  })

  return {
    /** Runs an effect until the end, and then interrupts it. */
    run: <A, E>(effect: Effect.Effect<A, E>) => {
      const fiber = Effect.runFork(effect.pipe(Effect.withClock(clock)), {
        scheduler: Scheduler.make((task) => tasks.push(task))
      })
      settle()
      timers.takeAll((wake, at) => {
        now = at
        wake()
        settle()
      })
      fiber.unsafeInterruptAsFork(fiber.id())
      settle()
    }
  }
}
