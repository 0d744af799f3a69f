import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import * as Tracer from "effect/Tracer"

/** What Effect 3 keeps in a fiber, beside its services: clocks, loggers, tracers. */
const settings = Context.pick(
  Clock.Clock,
  ConfigProvider.ConfigProvider,
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
  Tracer.Tracer
)

/**
 * Runs an effect without the services around it, which belong to the program part that happens to run it. Only the span remains in which
 * it runs.
 */
export const alone = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.updateContext(effect, (caller: Context.Context<never>) => settings(caller))
