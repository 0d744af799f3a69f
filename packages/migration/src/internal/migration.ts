import type { AccessToken } from "@credit-data/core/AccessToken"
import type * as AccessTokens from "@credit-data/core/AccessTokens"
import type { TokenError } from "@credit-data/core/TokenError"
import type { TokenEvent } from "@credit-data/core/TokenEvent"
import * as TokenStatus from "@credit-data/core/TokenStatus"
import { Broadcast, Instant, SafeLog, within } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as ConfigError from "effect/ConfigError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Comparison from "../Comparison.ts"
import * as MigrationEvent from "../MigrationEvent.ts"
import type { Plan } from "../Plan.ts"
import * as CurrentPlan from "./currentPlan.ts"
import * as Fallback from "./fallback.ts"
import * as Tally from "./tally.ts"
import * as tokenFacts from "./tokenFacts.ts"

type Version = "v1" | "v2"

/** In the background, a V2 token is requested at most this often. Its supply returns it from memory most of the time. */
const backgroundMillis = 1_000

interface Options<E, R> {
  readonly v1: AccessTokens.Service
  readonly v2: AccessTokens.Service
  readonly plan: Effect.Effect<Plan, E, R>
  readonly planInterval: Duration.DurationInput
}

const isWithFallback = ({ fallback, stage }: Plan) => stage === "v2" && fallback

const planText = ({ fallback, stage }: Plan) => stage === "v2" && fallback ? "v2 with a fallback to v1" : stage

/** A token goes to one API, whichever version issued it. */
const checkSameApi = ({ v1, v2 }: Pick<Options<never, never>, Version>): Effect.Effect<void, ConfigError.ConfigError> =>
  v1.environment.baseUrl === v2.environment.baseUrl && v1.environment.audience === v2.environment.audience
    ? Effect.void
    : Effect.fail(Variables.invalid(["v1", "environment"], "Expected the base URL and the audience of v2"))

const interval = (input: Duration.DurationInput) =>
  Option.match(Option.filter(Duration.decodeUnknown(input), Duration.isFinite), {
    onNone: () => Effect.fail(Variables.invalid(["planInterval"], "Expected a finite duration")),
    onSome: Effect.succeed
  })

export const make = Effect.fnUntraced(function*<E, R>(
  { plan: readPlan, planInterval, v1, v2 }: Options<E, R>
) {
  yield* checkSameApi({ v1, v2 })
  const client = yield* HttpClient.HttpClient
  const clock = yield* Effect.clock
  const scope = yield* Effect.scope
  const { publish, stream } = yield* Broadcast.make<MigrationEvent.MigrationEvent>(64)
  const tokenEvents = yield* Broadcast.make<TokenEvent>(64)
  const millis = () => Instant.monotonicMillis(clock)
  const now = () => DateTime.unsafeMake(clock.unsafeCurrentTimeMillis())
  const passOn = (event: TokenEvent) => tokenEvents.publish(() => event)
  const tally = { v1: yield* Tally.make(v1, passOn), v2: yield* Tally.make(v2, passOn) }
  const supplies = { v1, v2 }
  const fallback = Fallback.make({
    clock,
    environment: v2.environment.name,
    isPlanned: () => isWithFallback(plan.inUse()),
    publish
  })
  const plan: CurrentPlan.CurrentPlan = yield* CurrentPlan.make({
    read: readPlan,
    interval: yield* interval(planInterval),
    clock,
    changed: (from, to) => {
      fallback.forget()
      return publish(() => MigrationEvent.PlanChanged({ at: now(), from, to })).pipe(
        Effect.zipRight(
          SafeLog.logInfo(`The plan of the migration has changed from ${planText(from)} to ${planText(to)}.`)
        )
      )
    }
  })

  const issuers = new WeakMap<AccessToken, Version>()
  let fallbacks = 0
  let compared: AccessToken | undefined
  let isBusy = false
  let lastAttempt = -Infinity

  const issuedBy = (version: Version) => (token: AccessToken) => {
    issuers.set(token, version)
    return token
  }
  const served = (version: Version) => (token: AccessToken) => {
    tally[version].serve()
    return issuedBy(version)(token)
  }
  const issuerOf = (token: AccessToken): Version =>
    issuers.get(token) ?? (plan.inUse().stage === "v2" && !fallback.isOn() ? "v2" : "v1")

  /** What the token of Auth V2 lacks. The supply has requested these scopes. */
  const missing = (token: AccessToken) => token.missing(v2.requestedScopes)

  /** Obtains a token from Auth V2, and decides whether it can be used. */
  const tryV2: Effect.Effect<Option.Option<AccessToken>> = Effect.matchEffect(v2.get, {
    onFailure: (error) => Effect.as(fallback.begin(MigrationEvent.FallbackReason.Failed({ error })), Option.none()),
    onSuccess: (token) => {
      // the API may have rejected its tokens since this token was requested
      if (!fallback.mayTryV2()) return Effect.succeedNone
      const scopes = missing(token)
      return scopes.length === 0
        ? Effect.as(fallback.end, Option.some(token))
        : Effect.as(fallback.begin(MigrationEvent.FallbackReason.MissingScopes({ scopes })), Option.none())
    }
  })

  /**
   * Runs the effect in the background, and drops it while another one runs or began less than a second ago. No caller waits for it, and no
   * caller gets its failure.
   */
  const occasionally = (effect: Effect.Effect<unknown>) =>
    Effect.suspend(() => {
      if (isBusy || millis() - lastAttempt < backgroundMillis) return Effect.void
      isBusy = true
      lastAttempt = millis()
      const done = Effect.sync(() => {
        isBusy = false
      })
      return Effect.asVoid(Effect.forkIn(Effect.ensuring(Effect.exit(Effect.interruptible(effect)), done), scope))
    }).pipe(Effect.uninterruptible)

  const compare = (serving: AccessToken) =>
    Effect.flatMap(Effect.option(v2.get), (token) => {
      if (Option.isNone(token) || token.value === compared) return Effect.void
      compared = token.value
      const facts = { v1: tokenFacts.of(serving, v1), v2: tokenFacts.of(token.value, v2) }
      const { missingScopes } = facts.v2
      return Effect.zipRight(
        publish(() => MigrationEvent.Compared({ at: now(), ...facts })),
        missingScopes.length === 0
          ? Effect.void
          : SafeLog.logWarning(`Auth V2 does not grant ${missingScopes.join(" ")}. Ask the operator for it.`)
      )
    })

  const getV1 = Effect.map(v1.get, served("v1"))
  const getV2 = Effect.map(v2.get, served("v2"))
  const insteadOfV2 = (token: AccessToken) => {
    fallbacks++
    return token
  }
  // without a token of either version, the failure of the planned version counts
  const getInsteadOfV2 = Effect.catchAll(Effect.map(getV1, insteadOfV2), () => getV2)
  const getWithFallback: Effect.Effect<AccessToken, TokenError> = Effect.suspend(() =>
    fallback.isOn()
      ? Effect.zipRight(fallback.mayTryV2() ? occasionally(tryV2) : Effect.void, getInsteadOfV2)
      : tryV2.pipe(
        within(Fallback.patience, () => MigrationEvent.FallbackReason.Slow()),
        Effect.catchAll((reason) => Effect.as(fallback.begin(reason), Option.none<AccessToken>())),
        Effect.flatMap(Option.match({
          onNone: () => getInsteadOfV2,
          onSome: (token) => Effect.sync(() => served("v2")(token))
        }))
      )
  )

  const serve = (plan: Plan): Effect.Effect<AccessToken, TokenError> =>
    plan.stage === "v1"
      ? getV1
      : plan.stage === "shadow"
      ? Effect.tap(getV1, (token) => occasionally(compare(token)))
      : plan.fallback
      ? getWithFallback
      : getV2

  const refreshWithFallback: Effect.Effect<AccessToken, TokenError> = Effect.matchEffect(v2.refresh, {
    onFailure: (error) =>
      fallback.begin(MigrationEvent.FallbackReason.Failed({ error })).pipe(
        Effect.zipRight(Effect.mapError(v1.refresh, () => error)),
        Effect.map((token) => insteadOfV2(served("v1")(token)))
      ),
    onSuccess: (token) => {
      const scopes = missing(token)
      return scopes.length === 0
        ? Effect.map(fallback.end, () => served("v2")(token))
        : Effect.zipRight(fallback.begin(MigrationEvent.FallbackReason.MissingScopes({ scopes })), getInsteadOfV2)
    }
  })

  const refresh = (plan: Plan): Effect.Effect<AccessToken, TokenError> => {
    const refreshV1 = Effect.map(v1.refresh, served("v1"))
    if (plan.stage === "v1") return refreshV1
    if (plan.stage === "shadow") return Effect.zipRight(Effect.forkIn(Effect.exit(v2.refresh), scope), refreshV1)
    return plan.fallback ? refreshWithFallback : Effect.map(v2.refresh, served("v2"))
  }

  /** The state of the version in use, with the counts of both. */
  const status = Effect.zipWith(v1.status, v2.status, (ofV1, ofV2) => {
    const { fallback: isPlanned, stage } = plan.inUse()
    const isOfV1 = stage !== "v2" ||
      isPlanned && (fallback.isOn() || !TokenStatus.isUsable(ofV2)) && TokenStatus.isUsable(ofV1)
    return {
      ...(isOfV1 ? ofV1 : ofV2),
      callersWaiting: ofV1.callersWaiting + ofV2.callersWaiting,
      tokensServed: tally.v1.served() + tally.v2.served(),
      eventsLost: ofV1.eventsLost + ofV2.eventsLost + tokenEvents.lost()
    }
  })

  /** The replacement of a token of Auth V2. */
  const replaceV2 = (rejected: AccessToken): Effect.Effect<AccessToken, TokenError> =>
    Effect.map(v2.replace(rejected), served("v2"))
  const replaceWithFallback = (rejected: AccessToken): Effect.Effect<AccessToken, TokenError> =>
    Effect.suspend(() => {
      if (!fallback.mayTryV2()) return getInsteadOfV2
      return replaceV2(rejected).pipe(
        Effect.mapError((error) => MigrationEvent.FallbackReason.Failed({ error })),
        within(Fallback.patience, () => MigrationEvent.FallbackReason.Slow()),
        Effect.catchAll((reason) => Effect.zipRight(fallback.begin(reason), getInsteadOfV2))
      )
    })
  const rejectedBy = (version: Version, rejected: AccessToken) =>
    Effect.suspend(() => {
      tally[version].rejected()
      return version === "v2" ? fallback.rejected(rejected) : Effect.void
    })

  const tokens: AccessTokens.Service = {
    environment: v2.environment,
    requestedScopes: v2.requestedScopes,
    get: Effect.flatMap(plan.get, serve),
    refresh: Effect.flatMap(plan.get, refresh),
    invalidate: (rejected) =>
      Effect.suspend(() => {
        const version = issuerOf(rejected)
        return Effect.zipRight(rejectedBy(version, rejected), supplies[version].invalidate(rejected))
      }),
    replace: (rejected) =>
      Effect.suspend(() => {
        const version = issuerOf(rejected)
        const replacement = version === "v1"
          ? Effect.map(v1.replace(rejected), served("v1"))
          : isWithFallback(plan.inUse())
          ? replaceWithFallback(rejected)
          : replaceV2(rejected)
        return Effect.zipRight(rejectedBy(version, rejected), replacement)
      }),
    registerClient: (scope) => Effect.zipRight(v1.registerClient(scope), v2.registerClient(scope)),
    // only tokens of Auth V2 lack a scope
    reportMissingScope: v2.reportMissingScope,
    status,
    events: tokenEvents.stream
  }

  return {
    tokens,
    plan: plan.get,
    events: stream,
    report: Effect.zipWith(v1.status, v2.status, (ofV1, ofV2) => ({
      plan: plan.inUse(),
      v1: tally.v1.report(ofV1),
      v2: tally.v2.report(ofV2),
      fallbacks,
      fallenBack: fallback.report()
    })),
    compare: (probes?: ReadonlyArray<Comparison.Probe>) =>
      Effect.provideService(Comparison.compare({ v1, v2, probes }), HttpClient.HttpClient, client)
  }
})
