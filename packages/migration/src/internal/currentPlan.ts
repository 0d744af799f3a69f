import { faultOf, Instant, Source as Sources, Validation, within } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import type { Plan, Source, Stage } from "../Plan.ts"
import * as Lines from "./logLines.ts"
import { noFallback } from "./noFallback.ts"

/** A caller waits for the plan for this long. The old plan then remains in effect until the new one has been read. */
const patience = 1_000

/** A reading that takes longer has failed, so that another one can start. */
const longestReading = "30 seconds"

const stages: ReadonlyArray<Stage> = ["v1", "shadow", "v2"]

/** What is wrong with a plan: its field, and what was expected. A program without types may return anything. */
const problemOf = (plan: Plan): readonly [field: string, expected: string] | undefined =>
  !Predicate.isRecord(plan) || !stages.includes(plan.stage)
    ? ["stage", "Expected v1, shadow or v2"]
    : "fallback" in plan
    ? ["fallback", noFallback]
    : undefined

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

/** The plan is read again while it is used, when the last reading is as old as the interval. */
export const make = Effect.fnUntraced(
  function*<E, R>(plan: Source<E, R>, interval: Duration.DurationInput) {
    const checked = yield* Validation.all({ life: Validation.at("planInterval")(Validation.duration(interval)) })
    const read = yield* Sources.readerOf(plan)
    const first = yield* read
    const problem = problemOf(first)
    if (problem !== undefined) return yield* Effect.fail(Variables.invalid(["plan", problem[0]], problem[1]))
    const clock = yield* Effect.clock
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    const run = (effect: Effect.Effect<void>): Fiber.RuntimeFiber<void> =>
      fork(effect.pipe(Effect.interruptible, Effect.mapInputContext(Context.omit(Tracer.ParentSpan))))
    const millis = () => Instant.monotonicMillis(clock)
    // the program may change the object that it returned
    let inUse: Plan = { stage: first.stage }
    yield* Lines.planRead(inUse.stage)
    let readAt = millis()
    let startedAt = readAt
    let isReading = false
    let reading: Fiber.RuntimeFiber<void> | undefined
    let lastFault: string | undefined

    const take = (outcome: Exit.Exit<Plan, unknown>): Effect.Effect<void> => {
      const problem = Exit.isSuccess(outcome) ? problemOf(outcome.value) : undefined
      const fault = Exit.isFailure(outcome)
        ? faultOf(Cause.squash(outcome.cause))
        : problem && `plan.${problem.join(": ")}`
      const isNews = fault !== lastFault
      const before = inUse
      lastFault = fault
      readAt = millis()
      isReading = false
      if (Exit.isSuccess(outcome) && fault === undefined) {
        if (outcome.value.stage === before.stage) return Effect.void
        inUse = { stage: outcome.value.stage }
        return Lines.planChanged(before.stage, inUse.stage)
      }
      return isNews && fault !== undefined ? Lines.planNotRead(fault, before.stage) : Effect.void
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
