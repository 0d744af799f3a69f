import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import * as Tracer from "effect/Tracer"
import * as Headers from "effect/http/Headers"

/** Effect's own values: clock, random, ConfigProvider, console and tracer; loggers and levels; the scheduler. */
const settings = Context.pick(
  Clock.Clock,
  ConfigProvider.ConfigProvider,
  Console.Console,
  Random.Random,
  References.CurrentLogAnnotations,
  References.CurrentLogLevel,
  References.CurrentLogSpans,
  References.CurrentLoggers,
  References.LogToStderr,
  References.MinimumLogLevel,
  References.TracerEnabled,
  Scheduler.MaxOpsBeforeYield,
  Scheduler.Scheduler,
  Tracer.ParentSpan,
  Tracer.Tracer,
  // or the trace of a secret manager's client would show its headers
  Headers.CurrentRedactedNames
)

/**
 * Runs an effect without the services and the fiber-local values around it, which belong to the program part that happens to run it. Only
 * Effect's own values remain, and the span in which it runs.
 */
export const isolated = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.updateContext(effect, (caller: Context.Context<never>) => settings(caller))
