import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as Instant from "../instant.ts"

/**
 * At most one run at a time, for any number of callers. A run belongs to the scope and not to the caller that began it. It is
 * not part of any caller's trace.
 */
export interface SingleFlight<A, E> {
  /** A run is under way, and not overdue. */
  readonly isUnderWay: (now: Instant.Instant) => boolean
  /**
   * Begins a run unless another is under way. An overdue run is replaced: its timers have stopped, and all callers would wait for
   * it forever.
   */
  readonly begin: (now: Instant.Instant, run: Effect.Effect<A, E>, overdueAfterMillis: number) => void
  /** The outcome of the last run that was begun, when that run ends. */
  readonly outcome: () => Effect.Effect<Exit.Exit<A, E>>
  /** How many callers wait for that outcome. */
  readonly waiting: () => number
}

type Resume<A, E> = (outcome: Effect.Effect<Exit.Exit<A, E>>) => void

/** A run, and the callers that wait for it. */
class Run<A, E> {
  readonly overdueAt: Instant.Instant
  fiber: Fiber.RuntimeFiber<Exit.Exit<A, E>> | undefined
  hasEnded = false
  waiting = 0
  /** What resumes each caller, or nothing where a caller gave up. */
  #callers: Array<Resume<A, E> | undefined> = []
  /** Waits for the outcome. When the run has ended, it is the outcome. */
  outcome: Effect.Effect<Exit.Exit<A, E>> = Effect.async((resume) => {
    // the fiber of a caller may yield before it begins to wait
    if (this.hasEnded) return resume(this.outcome)
    // a caller leaves its place empty, so ten thousand that give up cost linear time, unlike with a Deferred
    const place = this.#callers.push(resume) - 1
    this.waiting++
    return Effect.sync(() => {
      if (this.#callers[place] === undefined) return
      this.#callers[place] = undefined
      this.waiting--
    })
  })

  constructor(overdueAt: Instant.Instant) {
    this.overdueAt = overdueAt
  }

  end(exit: Exit.Exit<A, E>): void {
    this.hasEnded = true
    this.outcome = Effect.succeed(exit)
    for (const resume of this.#callers) resume?.(this.outcome)
    this.#callers = []
    this.waiting = 0
  }
}

export const make = Effect.fnUntraced(function*<A, E>(): Effect.fn.Return<SingleFlight<A, E>, never, Scope.Scope> {
  const fork = yield* FiberSet.makeRuntime<never, unknown, never>()
  /** The last run that was begun. */
  let last: Run<A, E> | undefined

  const isUnderWay = (now: Instant.Instant) =>
    last !== undefined && !last.hasEnded && !Instant.reached(now, last.overdueAt)

  return {
    isUnderWay,
    // The check and the assignment are one synchronous step, so there is never a second run. The assignment comes before the fork,
    // because the first steps of a run may request a token: a tracer can do so.
    begin: (now, run, overdueAfterMillis) => {
      if (isUnderWay(now)) return
      const overdue = last?.hasEnded === false ? last.fiber : undefined
      const own = new Run<A, E>(Instant.later(now, overdueAfterMillis))
      last = own
      if (overdue !== undefined) fork(Fiber.interrupt(overdue))
      const detached = Effect.exit(run).pipe(
        Effect.interruptible, // the layer may have been built in an uninterruptible region
        Effect.mapInputContext((context: Context.Context<never>) => Context.omit(Tracer.ParentSpan)(context))
      )
      own.fiber = fork(detached)
      own.fiber.addObserver((exit) => own.end(Exit.isSuccess(exit) ? exit.value : Exit.failCause(exit.cause)))
    },
    outcome: () => last?.outcome ?? Effect.never,
    waiting: () => last?.waiting ?? 0
  }
})
