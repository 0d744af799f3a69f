import type { AccessToken } from "@credit-data/core/AccessToken"
import { Instant, SafeLog } from "@credit-data/core/Internal"
import type * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as MigrationEvent from "../MigrationEvent.ts"
import type { MigrationReport } from "../MigrationReport.ts"

/** How long a caller waits for Auth V2, before it gets a token of Auth V1. */
export const patience = Duration.seconds(2)

/** If the replacement of a rejected token is rejected so soon after its request, another token of Auth V2 would not help. */
const soonMillis = 30_000

/** After such a rejection, Auth V2 is not tried for this long, because each try costs a call its 401. */
const rejectionMillis = 5 * 60_000

const textOf: (reason: MigrationEvent.FallbackReason) => string = MigrationEvent.FallbackReason.$match({
  Failed: ({ error }) =>
    `The token request to Auth V2 failed: ${error._tag}. Tokens of Auth V1 are used until Auth V2 works.`,
  Slow: () =>
    `Auth V2 returned no token within ${Duration.format(patience)}. Tokens of Auth V1 are used until Auth V2 works.`,
  MissingScopes: ({ scopes }) =>
    `The token of Auth V2 lacks ${scopes.join(" ")}. Tokens of Auth V1 are used until Auth V2 works.`,
  Rejected: () =>
    "The API rejected a token of Auth V2 and its replacement. Tokens of Auth V1 are used for 5 minutes, or until the plan changes."
})

const fallbacks = Metric.counter("credit_data.migration.fallbacks", {
  description: "How often the fallback to V1 tokens began, by reason.",
  incremental: true
})

/** How often it began for this reason. */
export const counterOf = (environment: string, reason: MigrationEvent.FallbackReason["_tag"]) =>
  Metric.tagged(Metric.tagged(fallbacks, "credit_data.environment", environment), "reason", reason)

/** Whether callers get V1 tokens instead of V2 tokens, since when, and why. */
export interface Fallback {
  readonly isOn: () => boolean
  /** Not for a while after the API rejected the tokens of Auth V2. */
  readonly mayTryV2: () => boolean
  readonly begin: (reason: MigrationEvent.FallbackReason) => Effect.Effect<void>
  /** Auth V2 works again. */
  readonly end: Effect.Effect<void>
  /** Ends without an event, because the plan has changed. */
  readonly forget: () => void
  /** The API rejected this token of Auth V2. */
  readonly rejected: (token: AccessToken) => Effect.Effect<void>
  readonly report: () => MigrationReport["fallenBack"]
}

export const make = ({ clock, environment, isPlanned, publish }: {
  readonly clock: Clock.Clock
  readonly environment: string
  /** Does the plan in use have a fallback? It may have changed since the request to Auth V2. */
  readonly isPlanned: () => boolean
  readonly publish: (event: () => MigrationEvent.MigrationEvent) => Effect.Effect<void>
}): Fallback => {
  const now = () => Instant.now(clock)
  let rejection: { readonly at: Instant.Instant; readonly token: AccessToken } | undefined
  let begun: { readonly at: Instant.Instant; readonly reason: MigrationEvent.FallbackReason } | undefined
  let noTryBefore: Instant.Instant | undefined

  const forget = () => {
    begun = undefined
    noTryBefore = undefined
  }
  const begin = (reason: MigrationEvent.FallbackReason) =>
    Effect.suspend(() => {
      if (!isPlanned()) return Effect.void
      const at = now()
      const isNew = begun === undefined || (reason._tag === "Rejected" && begun.reason._tag !== "Rejected")
      begun = { at: begun?.at ?? at, reason }
      return isNew
        ? publish(() => MigrationEvent.FellBack({ at: Instant.wallTime(at), reason })).pipe(
          Effect.zipRight(Metric.update(counterOf(environment, reason._tag), 1)),
          Effect.zipRight(SafeLog.logWarning(textOf(reason)))
        )
        : Effect.void
    })
  return {
    isOn: () => begun !== undefined,
    mayTryV2: () => noTryBefore === undefined || Instant.reached(now(), noTryBefore),
    begin,
    end: Effect.suspend(() => {
      if (begun === undefined) return Effect.void
      forget()
      return Effect.zipRight(
        publish(() => MigrationEvent.Returned({ at: Instant.wallTime(now()) })),
        SafeLog.logInfo("Auth V2 works again. Its tokens are used from now on.")
      )
    }),
    forget,
    rejected: (token) =>
      Effect.suspend(() => {
        const before = rejection
        if (before?.token === token) return Effect.void
        const at = now()
        rejection = { at, token }
        const requestedAt = DateTime.toEpochMillis(token.requestedAt)
        const isReplacement = before !== undefined && requestedAt >= before.at.wallMillis
        if (!isReplacement || at.wallMillis - requestedAt > soonMillis) return Effect.void
        noTryBefore = Instant.later(at, rejectionMillis)
        return begin(MigrationEvent.FallbackReason.Rejected())
      }),
    report: () => Option.map(Option.fromNullable(begun), ({ at, reason }) => ({ since: Instant.wallTime(at), reason }))
  }
}
