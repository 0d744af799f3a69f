import * as Headers from "@effect/platform/Headers"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Tracer from "effect/Tracer"

/** Effect's own values: clock, random, ConfigProvider, console and tracer; loggers and levels; the scheduler; and what Effect needs. */
const kept: ReadonlySet<unknown> = new Set([
  DefaultServices.currentServices,
  FiberRef.currentContext,
  FiberRef.currentLogAnnotations,
  FiberRef.currentLogLevel,
  FiberRef.currentLogSpan,
  FiberRef.currentLoggers,
  FiberRef.currentMaxOpsBeforeYield,
  FiberRef.currentMinimumLogLevel,
  FiberRef.currentRuntimeFlags,
  FiberRef.currentScheduler,
  FiberRef.currentSupervisor,
  FiberRef.currentTracerEnabled,
  FiberRef.interruptedCause,
  // or the trace of a secret manager's client would show its headers
  Headers.currentRedactedNames
])

/**
 * Runs an effect without the services and the fiber-local values around it, which belong to the program part that happens to run it. Only
 * Effect's own values remain, and the span in which it runs.
 */
export const isolated = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(Effect.getFiberRefs, (all) => {
    const others = Array.from(FiberRefs.fiberRefs(all)).filter((ref) => !kept.has(ref))
    return Effect.acquireUseRelease(
      Effect.forEach(others, FiberRef.reset, { discard: true }),
      () => Effect.mapInputContext(effect, Context.pick(Tracer.ParentSpan)),
      () => Effect.forEach(others, (ref) => FiberRef.set(ref, FiberRefs.getOrDefault(all, ref)), { discard: true })
    )
  })
