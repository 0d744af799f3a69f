import { Instant, Validation, within } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import * as Cause from "effect/Cause"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import type { Plan, Stage } from "../Plan.ts"

/** A caller waits for the plan for this long. The old plan then remains in effect until the new one has been read. */
const patience = 1_000

/** A reading that takes longer has failed, so that another one can start. */
const longestReading = "30 seconds"

const stages: ReadonlyArray<Stage> = ["v1", "shadow", "v2"]

/** Whether callers get V1 tokens when Auth V2 has none. */
export const hasFallback = ({ fallback, stage }: Plan): boolean => stage === "v2" && fallback

/** The plan, as the log shows it. */
const textOf = (plan: Plan): string =>
  plan.stage === "v2" ? `v2 ${hasFallback(plan) ? "with a fallback to v1" : "without a fallback"}` : plan.stage

/** What is wrong with a plan: its field, and what was expected. A program without types may return anything. */
const problemOf = (plan: Plan): readonly [field: string, expected: string] | undefined =>
  !Predicate.isRecord(plan) || !stages.includes(plan.stage)
    ? ["stage", "Expected v1, shadow or v2"]
    : !Predicate.isBoolean(plan.fallback)
    ? ["fallback", "Expected true or false"]
    : undefined

/** The program may change the object that it returned. */
const copy = ({ fallback, stage }: Plan): Plan => ({ stage, fallback })

/** The lines of `Variables.read` name the variables and the accepted values. What else a failure says could be a secret. */
const faultOf = (cause: Cause.Cause<unknown>): string => {
  const failure = Cause.squash(cause)
  if (!Predicate.hasProperty(failure, "_tag") || !Predicate.isString(failure._tag)) return "a defect"
  const lines = "message" in failure
    ? [...String(failure.message).matchAll(/^- (\w+(?:: Expected| is missing: ).*)$/gm)]
    : []
  return lines.length === 0 ? failure._tag : lines.map(([, line]) => line).join("; ")
}

/** The plan in use. */
export interface CurrentPlan {
  /** Reads the plan again if the last reading is too old. */
  readonly get: Effect.Effect<Plan>
  /** The same object until the plan changes. */
  readonly inUse: () => Plan
  /**
   * Runs in the scope and with the loggers of the migration, in no caller's trace. It can be interrupted even if the layer was built in an
   * uninterruptible region.
   */
  readonly run: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
}

/** Reads the plan for the first time. */
export const read = <E, R>(plan: Effect.Effect<Plan, E, R>): Effect.Effect<Plan, E | ConfigError.ConfigError, R> =>
  Effect.flatMap(plan, (first) => {
    const problem = problemOf(first)
    return problem === undefined
      ? Effect.succeed(copy(first))
      : Effect.fail(Variables.invalid(["plan", problem[0]], problem[1]))
  })

/** The plan is read again while it is used, when the last reading is as old as the interval. */
export const make = Effect.fnUntraced(
  function*<E, R>(plan: Effect.Effect<Plan, E, R>, first: Plan, interval: Duration.DurationInput) {
    const checked = yield* Validation.all({ life: Validation.at("planInterval")(Validation.duration(interval)) })
    const context = yield* Effect.context<R>()
    const configProvider = yield* Effect.configProviderWith(Effect.succeed)
    const clock = yield* Effect.clock
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    const run = (effect: Effect.Effect<void>): Fiber.RuntimeFiber<void> =>
      fork(effect.pipe(Effect.interruptible, Effect.mapInputContext(Context.omit(Tracer.ParentSpan))))
    const millis = () => Instant.monotonicMillis(clock)
    const read = plan.pipe(Effect.provide(context), Effect.withConfigProvider(configProvider))
    let inUse = first
    yield* Effect.logInfo(`The plan of the migration is ${textOf(inUse)}.`)
    let readAt = millis()
    let startedAt = readAt
    let isReading = false
    let reading: Fiber.RuntimeFiber<void> | undefined
    let lastFault: string | undefined

    const take = (outcome: Exit.Exit<Plan, unknown>): Effect.Effect<void> => {
      const problem = Exit.isSuccess(outcome) ? problemOf(outcome.value) : undefined
      const fault = Exit.isFailure(outcome) ? faultOf(outcome.cause) : problem && `plan.${problem.join(": ")}`
      const isNews = fault !== lastFault
      const before = inUse
      lastFault = fault
      readAt = millis()
      isReading = false
      if (Exit.isSuccess(outcome) && fault === undefined) {
        if (outcome.value.stage === before.stage && outcome.value.fallback === before.fallback) return Effect.void
        inUse = copy(outcome.value)
        return Effect.logInfo(`The plan of the migration has changed from ${textOf(before)} to ${textOf(inUse)}.`)
      }
      return isNews
        ? Effect.logWarning(
          `The plan of the migration could not be read again: ${fault}. The previous plan remains in use: ${
            textOf(before)
          }. Correct it; it is read again at the next interval.`
        )
        : Effect.void
    }

    return {
      inUse: () => inUse,
      get: Effect.suspend(() => {
        if (millis() - readAt < Duration.toMillis(checked.life)) return Effect.succeed(inUse)
        if (!isReading) {
          isReading = true
          startedAt = millis()
          reading = run(
            Effect.flatMap(Effect.exit(within(longestReading, () => new Cause.TimeoutException())(read)), take)
          )
        }
        const left = startedAt + patience - millis()
        // it may have ended already
        if (!isReading || reading === undefined || left <= 0) return Effect.succeed(inUse)
        const ended = Effect.timeoutOption(Effect.interruptible(Fiber.await(reading)), left)
        return ended.pipe(Effect.withClock(clock), Effect.map(() => inUse))
      }),
      run
    } satisfies CurrentPlan
  }
)
