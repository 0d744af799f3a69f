import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberHandle from "effect/FiberHandle"
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

/** A run, and what resumes each caller that waits for it. */
interface Run<A, E> {
  readonly overdueAt: Instant.Instant
  readonly waiting: Set<(outcome: Effect.Effect<Exit.Exit<A, E>>) => void>
  /** Waits for the outcome. When the run has ended, it is the outcome. */
  outcome: Effect.Effect<Exit.Exit<A, E>>
  hasEnded: boolean
}

const makeRun = <A, E>(overdueAt: Instant.Instant): Run<A, E> => {
  const waiting: Run<A, E>["waiting"] = new Set()
  // a Set counts the callers, and when ten thousand give up, that costs linear time, unlike with a Deferred
  const outcome = Effect.async<Exit.Exit<A, E>>((resume) => {
    waiting.add(resume)
    return Effect.sync(() => {
      waiting.delete(resume)
    })
  })
  return { overdueAt, waiting, outcome, hasEnded: false }
}

export const make = Effect.fnUntraced(function*<A, E>(): Effect.fn.Return<SingleFlight<A, E>, never, Scope.Scope> {
  const handle = yield* FiberHandle.make<Exit.Exit<A, E>, never>()
  const fork = yield* FiberHandle.runtime(handle)()
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
      const own = makeRun<A, E>(Instant.later(now, overdueAfterMillis))
      last = own
      const detached = Effect.exit(run).pipe(
        Effect.interruptible, // the layer may have been built in an uninterruptible region
        Effect.mapInputContext((context: Context.Context<never>) => Context.omit(Tracer.ParentSpan)(context))
      )
      fork(detached).addObserver((exit) => {
        own.outcome = Effect.succeed(Exit.isSuccess(exit) ? exit.value : Exit.failCause(exit.cause))
        own.hasEnded = true
        for (const resume of own.waiting) resume(own.outcome)
        own.waiting.clear()
      })
    },
    outcome: () => last?.outcome ?? Effect.never,
    waiting: () => last?.waiting.size ?? 0
  }
})
