import { Instant, SafeLog, within } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import type * as ConfigError from "effect/ConfigError"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { Plan, Stage } from "../Plan.ts"

/** A caller waits for the plan for this long. The old plan then remains in effect until the new one has been read. */
const patience = 1_000

/** A reading that takes longer has failed, so that another one can start. */
const longestReading = "30 seconds"

const stages: ReadonlyArray<Stage> = ["v1", "shadow", "v2"]

/** A program without types may return anything. */
const validate = (plan: Plan): Effect.Effect<Plan, ConfigError.ConfigError> =>
  !Predicate.isRecord(plan) || !stages.includes(plan.stage)
    ? Effect.fail(Variables.invalid(["plan", "stage"], "Expected v1, shadow or v2"))
    : !Predicate.isBoolean(plan.fallback)
    ? Effect.fail(Variables.invalid(["plan", "fallback"], "Expected true or false"))
    : Effect.succeed({ stage: plan.stage, fallback: plan.fallback })

const nameOf = (cause: Cause.Cause<unknown>): string => {
  const failure = Cause.squash(cause)
  return Predicate.hasProperty(failure, "_tag") && Predicate.isString(failure._tag) ? failure._tag : "a defect"
}

/** The plan in use. */
export interface CurrentPlan {
  /** Reads the plan again if the last reading is too old. */
  readonly get: Effect.Effect<Plan>
  readonly inUse: () => Plan
}

/** The plan is read again while it is used, when the last reading is as old as the interval. */
export const make = Effect.fnUntraced(function*<E, R>(options: {
  readonly read: Effect.Effect<Plan, E, R>
  readonly interval: Duration.Duration
  readonly clock: Clock.Clock
  readonly changed: (from: Plan, to: Plan) => Effect.Effect<void>
}): Effect.fn.Return<CurrentPlan, E | ConfigError.ConfigError, R | Scope.Scope> {
  const context = yield* Effect.context<R>()
  const configProvider = yield* Effect.configProviderWith(Effect.succeed)
  const scope = yield* Effect.scope
  const { clock } = options
  const millis = () => Instant.monotonicMillis(clock)
  const read = options.read.pipe(
    Effect.flatMap(validate),
    Effect.provide(context),
    Effect.withConfigProvider(configProvider)
  )
  const lifeMillis = Duration.toMillis(options.interval)
  let plan = yield* read
  let readAt = millis()
  let reading: { readonly done: Deferred.Deferred<void>; readonly startedAt: number } | undefined
  let isFailing = false

  /** Takes over what was read. Not interruptible, because a changed plan is also reported. */
  const commit = Effect.fnUntraced(function*(done: Deferred.Deferred<void>, outcome: Exit.Exit<Plan, unknown>) {
    if (Exit.isFailure(outcome) && !isFailing && !Cause.isInterruptedOnly(outcome.cause)) {
      yield* SafeLog.logWarning(
        `The plan of the migration could not be read again: ${nameOf(outcome.cause)}. ` +
          `The previous plan remains in use: ${plan.stage}.`
      )
    }
    isFailing = Exit.isFailure(outcome)
    readAt = millis()
    reading = undefined
    if (Exit.isSuccess(outcome) && (outcome.value.stage !== plan.stage || outcome.value.fallback !== plan.fallback)) {
      const before = plan
      plan = outcome.value
      yield* options.changed(before, plan)
    }
    yield* Deferred.succeed(done, void 0)
  })

  const readAgain = (done: Deferred.Deferred<void>) =>
    Effect.interruptible(read).pipe(
      within(longestReading, () => new Cause.TimeoutException()),
      Effect.onExit((outcome) => commit(done, outcome)),
      Effect.exit,
      // even when the caller that starts the reading cannot be interrupted
      Effect.interruptible
    )

  /** Waits for what is left of the first second of the reading. */
  const awaitReading = Effect.suspend(() => {
    if (reading === undefined) return Effect.void
    const left = reading.startedAt + patience - millis()
    return left <= 0 ? Effect.void : Effect.ignore(within(left, () => undefined)(Deferred.await(reading.done)))
  })

  const startReading = Effect.flatMap(Deferred.make<void>(), (done) => {
    if (reading !== undefined) return Effect.void
    reading = { done, startedAt: millis() }
    return Effect.forkIn(readAgain(done), scope)
  }).pipe(Effect.uninterruptible)

  return {
    inUse: () => plan,
    get: Effect.suspend(() => {
      if (millis() - readAt < lifeMillis) return Effect.succeed(plan)
      return startReading.pipe(Effect.zipRight(awaitReading), Effect.map(() => plan))
    })
  }
})
