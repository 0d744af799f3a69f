import type { AccessScope } from "@credit-data/core/AccessScope"
import type { AccessToken } from "@credit-data/core/AccessToken"
import type * as AccessTokens from "@credit-data/core/AccessTokens"
import * as TokenStatus from "@credit-data/core/TokenStatus"
import { Instant, within } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import * as HttpClient from "@effect/platform/HttpClient"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Stream from "effect/Stream"
import * as Comparison from "../Comparison.ts"
import type { FallbackReason, MigrationReport } from "../MigrationReport.ts"
import type { Plan } from "../Plan.ts"
import { type CurrentPlan, hasFallback } from "./currentPlan.ts"
import * as Fallback from "./fallback.ts"

type Version = "v1" | "v2"

type Token = AccessTokens.Service["get"]

/** In the background, a V2 token is requested at most this often. Its supply returns it from memory most of the time. */
const backgroundMillis = 1_000

export const make = Effect.fnUntraced(function*({ client, plan, v1, v2 }: {
  readonly client: HttpClient.HttpClient
  readonly plan: CurrentPlan
  readonly v1: AccessTokens.Service
  readonly v2: AccessTokens.Service
}) {
  // a token goes to one API, whichever version issued it
  if (v1.environment.baseUrl !== v2.environment.baseUrl || v1.environment.audience !== v2.environment.audience) {
    return yield* Effect.fail(Variables.invalid(["v1", "environment"], "Expected the base URL and the audience of v2"))
  }
  const clock = yield* Effect.clock
  const supplies = { v1, v2 }
  const served = { v1: 0, v2: 0 }
  const issuers = new WeakMap<AccessToken, Version>()
  let fallbacks = 0
  let isBusy = false
  let lastAttempt = -Infinity

  const planned = (): Version => plan.inUse().stage === "v2" ? "v2" : "v1"
  const issuerOf = (token: AccessToken): Version => issuers.get(token) ?? planned()
  const fallbackOf = (scope?: AccessScope) => Fallback.make(plan, clock, v2, scope)
  /** All groups use V1 tokens, because Auth V2 issues none. */
  const outage = fallbackOf()

  /** In the background, unless another effect is running there or began less than a second ago. */
  const occasionally = (effect: Effect.Effect<unknown, unknown>): void => {
    const now = Instant.monotonicMillis(clock)
    if (isBusy || now - lastAttempt < backgroundMillis) return
    isBusy = true
    lastAttempt = now
    plan.run(Effect.map(Effect.exit(effect), () => {
      isBusy = false
    }))
  }

  const scopeMissing = (scope: AccessScope) => v2.scopeMissing?.(scope) ?? DateTime.now
  /** The operator may have granted a scope, so the supply of Auth V2 asks again from time to time. */
  const askForMissing = ([scope]: ReadonlyArray<AccessScope>) =>
    scope === undefined ? Effect.void : Effect.asVoid(scopeMissing(scope))
  const shadow = Effect.flatMap(v2.get, (token) => askForMissing(token.missing(v2.requestedScopes)))

  /** A token of Auth V2, or why there was none in time. */
  const patiently = (request: Token): Effect.Effect<AccessToken, FallbackReason> =>
    request.pipe(
      Effect.mapError((error): FallbackReason => ({ _tag: "Failed", error })),
      within(Fallback.patience, (): FallbackReason => ({ _tag: "Slow" })),
      Effect.withClock(clock)
    )
  const fromV2 = Effect.suspend((): Effect.Effect<AccessToken | undefined> => {
    if (!outage.isOn()) {
      return Effect.match(patiently(v2.get), {
        onFailure: (reason) => {
          outage.begin(reason)
          return undefined
        },
        onSuccess: (token) => {
          outage.end()
          return token
        }
      })
    }
    occasionally(Effect.map(v2.get, outage.end))
    return Effect.succeed(undefined)
  })

  const byPlan = (tokens: Record<Plan["stage"] | "v2 or v1", Token>): Token =>
    Effect.flatMap(plan.get, (plan) => tokens[hasFallback(plan) ? "v2 or v1" : plan.stage])

  /** The supply as one endpoint group uses it, and its fallback. */
  const viewOf = (scope?: AccessScope) => {
    const needed = scope === undefined ? v2.requestedScopes : [scope]
    const own = fallbackOf(scope)

    const from = (version: Version) => (token: AccessToken) => {
      served[version]++
      issuers.set(token, version)
      return token
    }
    const getV1 = Effect.map(v1.get, from("v1"))
    const getV2 = Effect.map(v2.get, from("v2"))
    const refreshV1 = Effect.map(v1.refresh, from("v1"))
    const insteadOfV2 = (token: Token): Token => Effect.tap(token, () => Effect.sync(() => fallbacks++))
    // without a token of either version, the failure of the planned version counts
    const getInsteadOfV2 = Effect.catchAll(insteadOfV2(getV1), () => getV2)

    const use = (token: AccessToken | undefined): Token => {
      if (token === undefined) return getInsteadOfV2
      const scopes = token.missing(needed)
      if (scopes.length === 0) {
        own.end()
        return Effect.succeed(from("v2")(token))
      }
      own.begin({ _tag: "MissingScopes", scopes })
      return Effect.zipRight(askForMissing(scopes), getInsteadOfV2)
    }

    const tokens: AccessTokens.Service = {
      environment: v2.environment,
      clientId: v2.clientId,
      requestedScopes: v2.requestedScopes,
      get: byPlan({
        v1: getV1,
        shadow: Effect.tap(getV1, () => Effect.sync(() => occasionally(shadow))),
        v2: getV2,
        "v2 or v1": Effect.flatMap(fromV2, use)
      }),
      refresh: byPlan({
        v1: refreshV1,
        shadow: Effect.tap(refreshV1, () => Effect.sync(() => occasionally(v2.refresh))),
        v2: Effect.map(v2.refresh, from("v2")),
        "v2 or v1": Effect.matchEffect(v2.refresh, {
          onFailure: (error) => {
            outage.begin({ _tag: "Failed", error })
            return Effect.mapError(insteadOfV2(refreshV1), () => error)
          },
          onSuccess: (token) => {
            outage.end()
            return use(token)
          }
        })
      }),
      invalidate: (token) => supplies[issuerOf(token)].invalidate(token),
      // only tokens of Auth V2 lack a scope
      scopeMissing,
      replace: (rejected, ...tried) =>
        Effect.suspend(() => {
          const version = issuerOf(rejected)
          const isFallback = hasFallback(plan.inUse())
          // the plan has changed since the call began
          if (version !== planned() && !(isFallback && version === "v1")) return tokens.get
          const replacement = supplies[version].replace(rejected, ...tried)
          if (version === "v1" || !isFallback) return Effect.map(replacement, from(version))
          const lastOfCall = Effect.suspend(() => {
            own.needed()
            return getInsteadOfV2
          })
          if (tried.some((token) => issuerOf(token) === "v2")) {
            return Effect.zipRight(v2.invalidate(rejected), lastOfCall)
          }
          return Effect.matchEffect(patiently(replacement), {
            onFailure: () => lastOfCall,
            onSuccess: (other) => Equal.equals(other.secret, rejected.secret) ? lastOfCall : use(other)
          })
        }),
      forScope: (scope) => view(scope).tokens,
      // the state of the version in use, with the counts of both
      status: Effect.zipWith(v1.status, v2.status, (ofV1, ofV2) => {
        const { fallback, stage } = plan.inUse()
        const isOfV1 = stage !== "v2" ||
          fallback && (outage.isOn() || !TokenStatus.isUsable(ofV2)) && TokenStatus.isUsable(ofV1)
        return {
          ...(isOfV1 ? ofV1 : ofV2),
          callersWaiting: ofV1.callersWaiting + ofV2.callersWaiting,
          tokensServed: served.v1 + served.v2,
          eventsLost: ofV1.eventsLost + ofV2.eventsLost
        }
      }),
      events: Stream.merge(v1.events, v2.events)
    }
    return { own, tokens }
  }
  const views = new Map<AccessScope | undefined, ReturnType<typeof viewOf>>()
  const view = (scope?: AccessScope) => {
    const found = views.get(scope) ?? viewOf(scope)
    views.set(scope, found)
    return found
  }

  return {
    tokens: view().tokens,
    plan: plan.get,
    report: Effect.zipWith(v1.status, v2.status, (ofV1, ofV2): MigrationReport => ({
      plan: plan.inUse(),
      v1: { ...ofV1, tokensServed: served.v1 },
      v2: { ...ofV2, tokensServed: served.v2 },
      fallbacks,
      fallenBack: [outage, ...Array.from(views.values(), ({ own }) => own)].flatMap(({ report }) => report())
    })),
    compare: (probes?: ReadonlyArray<Comparison.Probe>) =>
      Effect.provideService(Comparison.compare({ v1, v2, probes }), HttpClient.HttpClient, client)
  }
})
