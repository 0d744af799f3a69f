import type { AccessScope } from "@credit-data/core/AccessScope"
import type { AccessToken } from "@credit-data/core/AccessToken"
import type * as AccessTokens from "@credit-data/core/AccessTokens"
import { Instant } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import * as HttpClient from "@effect/platform/HttpClient"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Comparison from "../Comparison.ts"
import type { MigrationReport } from "../MigrationReport.ts"
import type { Stage } from "../Plan.ts"
import type { CurrentPlan } from "./currentPlan.ts"

// Which version's tokens are used during a migration.

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
  let isBusy = false
  let lastAttempt = -Infinity

  const planned = (): Version => plan.inUse().stage === "v2" ? "v2" : "v1"
  const issuerOf = (token: AccessToken): Version => issuers.get(token) ?? planned()
  const from = (version: Version) => (token: AccessToken) => {
    served[version]++
    issuers.set(token, version)
    return token
  }

  /** Uses Auth V2 in the background, unless another use is under way or began less than a second ago. */
  const inShadow = (use: Effect.Effect<unknown, unknown>) =>
    Effect.sync(() => {
      const now = Instant.monotonicMillis(clock)
      if (isBusy || now - lastAttempt < backgroundMillis) return
      isBusy = true
      lastAttempt = now
      plan.run(Effect.map(Effect.exit(use), () => {
        isBusy = false
      }))
    })

  // only tokens of Auth V2 lack a scope
  const scopeMissing = (scope: AccessScope) => v2.scopeMissing?.(scope) ?? DateTime.now
  /** The operator may have granted a scope, so the supply of Auth V2 asks again from time to time. */
  const getInShadow = Effect.flatMap(v2.get, (token) => {
    const [missing] = token.missing(v2.requestedScopes)
    return missing === undefined ? Effect.void : scopeMissing(missing)
  })

  const byPlan = (tokens: Record<Stage, Token>): Token => Effect.flatMap(plan.get, ({ stage }) => tokens[stage])
  const getV1 = Effect.map(v1.get, from("v1"))
  const refreshV1 = Effect.map(v1.refresh, from("v1"))

  const tokens: AccessTokens.Service = {
    environment: v2.environment,
    clientId: v2.clientId,
    requestedScopes: v2.requestedScopes,
    get: byPlan({
      v1: getV1,
      shadow: Effect.tap(getV1, () => inShadow(getInShadow)),
      v2: Effect.map(v2.get, from("v2"))
    }),
    refresh: byPlan({
      v1: refreshV1,
      shadow: Effect.tap(refreshV1, () => inShadow(v2.refresh)),
      v2: Effect.map(v2.refresh, from("v2"))
    }),
    invalidate: (token) => supplies[issuerOf(token)].invalidate(token),
    scopeMissing,
    replace: (rejected, ...tried) =>
      Effect.suspend(() => {
        const version = issuerOf(rejected)
        // the plan may have changed since the call began
        return version === planned()
          ? Effect.map(supplies[version].replace(rejected, ...tried), from(version))
          : tokens.get
      }),
    // the state of the version in use, with the counts of both
    status: Effect.zipWith(v1.status, v2.status, (ofV1, ofV2) => ({
      ...(planned() === "v1" ? ofV1 : ofV2),
      callersWaiting: ofV1.callersWaiting + ofV2.callersWaiting,
      tokensServed: served.v1 + served.v2
    })),
    events: Stream.merge(v1.events, v2.events)
  }

  return {
    tokens,
    plan: plan.get,
    report: Effect.zipWith(v1.status, v2.status, (ofV1, ofV2): MigrationReport => ({
      plan: plan.inUse(),
      v1: { ...ofV1, tokensServed: served.v1 },
      v2: { ...ofV2, tokensServed: served.v2 }
    })),
    compare: (probes?: ReadonlyArray<Comparison.Probe>) =>
      Effect.provideService(Comparison.compare({ v1, v2, probes }), HttpClient.HttpClient, client)
  }
})
