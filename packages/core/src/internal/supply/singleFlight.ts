import type * as Clock from "effect/Clock"
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
  readonly isUnderWay: () => boolean
  /**
   * Begins a run unless another is under way. An overdue run is replaced: its timers have stopped, and all callers would wait for
   * it forever.
   */
  readonly begin: (run: Effect.Effect<A, E>, overdueAfterMillis: number) => void
  /** The outcome of the last run that was begun, when that run ends. */
  readonly outcome: () => Effect.Effect<Exit.Exit<A, E>>
  /** How many callers wait for that outcome. */
  readonly waiting: () => number
}

/** The last run that was begun, and what resumes each caller that waits for its outcome. */
interface Run<A, E> {
  readonly overdueAt: Instant.Instant
  readonly waiting: Set<(outcome: Effect.Effect<Exit.Exit<A, E>>) => void>
  outcome: Effect.Effect<Exit.Exit<A, E>> | undefined
}

export const make = Effect.fnUntraced(function*<A, E>(
  clock: Clock.Clock
): Effect.fn.Return<SingleFlight<A, E>, never, Scope.Scope> {
  const handle = yield* FiberHandle.make<Exit.Exit<A, E>, never>()
  const fork = yield* FiberHandle.runtime(handle)()
  let last: Run<A, E> | undefined

  const isUnderWay = () =>
    last !== undefined && last.outcome === undefined && !Instant.reached(Instant.now(clock), last.overdueAt)

  return {
    isUnderWay,
    // The check and the assignment are one synchronous step, so there is never a second run. The assignment comes before the fork,
    // because the first steps of a run may request a token: a tracer can do so.
    begin: (run, overdueAfterMillis) => {
      if (isUnderWay()) return
      const own: Run<A, E> = {
        overdueAt: Instant.later(Instant.now(clock), overdueAfterMillis),
        waiting: new Set(),
        outcome: undefined
      }
      last = own
      const detached = Effect.exit(run).pipe(
        Effect.interruptible, // the layer may have been built in an uninterruptible region
        Effect.mapInputContext((context: Context.Context<never>) => Context.omit(Tracer.ParentSpan)(context))
      )
      fork(detached).addObserver((exit) => {
        const outcome = Effect.succeed(Exit.isSuccess(exit) ? exit.value : Exit.failCause(exit.cause))
        own.outcome = outcome
        for (const resume of own.waiting) resume(outcome)
        own.waiting.clear()
      })
    },
    outcome: () => {
      if (last === undefined) return Effect.never
      const { outcome, waiting } = last
      // a Set counts the callers, and ten thousand that give up cost linear time, which they do not with a Deferred
      return outcome ?? Effect.async((resume) => {
        waiting.add(resume)
        return Effect.sync(() => {
          waiting.delete(resume)
        })
      })
    },
    waiting: () => last?.waiting.size ?? 0
  }
})
