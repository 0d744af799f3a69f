import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberHandle from "effect/FiberHandle"
import * as FiberId from "effect/FiberId"
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
}

export const make = Effect.fnUntraced(function*<A, E>(
  clock: Clock.Clock
): Effect.fn.Return<SingleFlight<A, E>, never, Scope.Scope> {
  const handle = yield* FiberHandle.make<Exit.Exit<A, E>, never>()
  const fork = yield* FiberHandle.runtime(handle)()
  // For each of many callers, waiting for a fiber costs more than waiting for a Deferred.
  let outcome = Deferred.unsafeMake<Exit.Exit<A, E>>(FiberId.none)
  let current: { readonly overdueAt: Instant.Instant } | undefined

  const isUnderWay = () => current !== undefined && !Instant.reached(Instant.now(clock), current.overdueAt)

  return {
    isUnderWay,
    // The check and the assignment are one synchronous step, so there is never a second run. The assignment comes before the fork,
    // because the first steps of a run may request a token: a tracer can do so.
    begin: (run, overdueAfterMillis) => {
      if (isUnderWay()) return
      const ownOutcome = Deferred.unsafeMake<Exit.Exit<A, E>>(FiberId.none)
      outcome = ownOutcome
      const own = { overdueAt: Instant.later(Instant.now(clock), overdueAfterMillis) }
      current = own
      const detached = Effect.exit(run).pipe(
        Effect.interruptible, // the layer may have been built in an uninterruptible region
        Effect.mapInputContext((context: Context.Context<never>) => Context.omit(Tracer.ParentSpan)(context))
      )
      fork(detached).addObserver((exit) => {
        if (current === own) current = undefined
        Deferred.unsafeDone(ownOutcome, Effect.succeed(Exit.isSuccess(exit) ? exit.value : Exit.failCause(exit.cause)))
      })
    },
    outcome: () => Deferred.await(outcome)
  }
})
