import type { AccessScope } from "@credit-data/core/AccessScope"
import type { AccessToken } from "@credit-data/core/AccessToken"
import { Instant } from "@credit-data/core/Internal"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as MigrationReport from "../MigrationReport.ts"
import type { Plan } from "../Plan.ts"
import { type CurrentPlan, hasFallback } from "./currentPlan.ts"

/** How long a caller waits for Auth V2, before it gets a token of Auth V1. */
export const patience = Duration.seconds(2)

/** The supply of Auth V2 does not replace a replacement for this long (`forcedRenewalPause`). */
const holdMillis = 30_000

/** After a rejection, tokens of Auth V2 are not used for this long, because each use costs a call its 401. */
const rejectionMillis = 5 * 60_000

const causeOf = (reason: MigrationReport.FallbackReason): string =>
  reason._tag === "Failed"
    ? `The token request to Auth V2 failed: ${reason.error._tag}`
    : reason._tag === "Slow"
    ? `Auth V2 returned no token within ${Duration.format(patience)}`
    : reason._tag === "MissingScopes"
    ? `The token of Auth V2 lacks ${reason.scopes.join(" ")}`
    : "The API rejected a token of Auth V2 and its replacement"

const fallbacks = Metric.counter("credit_data.migration.fallbacks", {
  description: "How often the fallback to V1 tokens began, by reason.",
  incremental: true
})

/** How often it began for this reason. */
export const counterOf = (environment: string, reason: MigrationReport.FallbackReason["_tag"]) =>
  Metric.tagged(Metric.tagged(fallbacks, "credit_data.environment", environment), "reason", reason)

/**
 * The fallback of one endpoint group, or of all: whether callers get V1 tokens instead of V2 tokens, since when, and why. It ends with the
 * plan under which it began.
 */
export const make = ({ inUse, run }: CurrentPlan, clock: Clock.Clock, environment: string, scope?: AccessScope) => {
  const group = scope === undefined ? "" : ` for ${scope}`
  let last: { readonly plan: Plan; readonly fallback: MigrationReport.Fallback } | undefined
  let rejection: { readonly at: Instant.Instant; readonly token: AccessToken } | undefined
  const now = () => Instant.now(clock)
  const current = () => last?.plan === inUse() ? last.fallback : undefined
  const wasRejectedWithin = (millis: number) =>
    rejection !== undefined && !Instant.reached(now(), Instant.later(rejection.at, millis))

  const isRejected = () => current()?.reason._tag === "Rejected" && wasRejectedWithin(rejectionMillis)
  /** Does nothing if the plan in use has no fallback. */
  const begin = (reason: MigrationReport.FallbackReason): void => {
    if (!hasFallback(inUse())) return
    const before = current()
    const since = before?.since ?? Instant.wallTime(now())
    last = { plan: inUse(), fallback: { since, reason, scope: Option.fromNullable(scope) } }
    const isRejected = reason._tag === "Rejected"
    if (before !== undefined && (!isRejected || before.reason._tag === "Rejected")) return
    const until = isRejected ? "for 5 minutes, or until the plan changes" : "until Auth V2 works"
    run(Effect.zipRight(
      Metric.update(counterOf(environment, reason._tag), 1),
      Effect.logWarning(`${causeOf(reason)}. Tokens of Auth V1 are used${group} ${until}.`)
    ))
  }
  const end = (): void => {
    if (current() !== undefined) run(Effect.logInfo(`Auth V2 works again${group}. Its tokens are used from now on.`))
    last = undefined
  }
  return {
    isOn: () => current() !== undefined,
    begin,
    end,
    report: () => Option.toArray(Option.fromNullable(current())),
    /** The API has rejected this token of Auth V2, which had taken the place of a rejected token. */
    reject: (token: AccessToken): void => {
      rejection = { at: now(), token }
      begin({ _tag: "Rejected" })
    },
    /** Whether the API has rejected the tokens of Auth V2 under this plan, less than five minutes ago. */
    isRejected,
    /** Whether this is the rejected token, and the supply of Auth V2 cannot have replaced it yet. The plan may have changed since. */
    isHeld: (token: AccessToken) =>
      Equal.equals(rejection?.token.secret, token.secret) && wasRejectedWithin(holdMillis),
    /** Auth V2 has a new token. */
    forget: (): void => {
      rejection = undefined
      if (current()?.reason._tag === "Rejected") end()
    }
  }
}
