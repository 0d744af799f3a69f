import type { AccessScope } from "@credit-data/core/AccessScope"
import type * as AccessTokens from "@credit-data/core/AccessTokens"
import { clientOf, Instant, shownClientId } from "@credit-data/core/Internal"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricLabel from "effect/MetricLabel"
import * as Option from "effect/Option"
import type * as MigrationReport from "../MigrationReport.ts"
import type { Plan } from "../Plan.ts"
import { type CurrentPlan, hasFallback } from "./currentPlan.ts"

/** How long a caller waits for Auth V2, before it gets a token of Auth V1. */
export const patience = Duration.seconds(2)

/** The log names again a group whose calls needed a V1 token after 401s, if none has needed it for this long. */
const quietMillis = 5 * 60_000

const causeOf = (reason: MigrationReport.FallbackReason): string =>
  reason._tag === "Failed"
    ? `the token request to V2 failed: ${reason.error._tag}${"status" in reason.error ? ` ${reason.error.status}` : ""}`
    : reason._tag === "Slow"
    ? `V2 returned no token within ${Duration.format(patience)}`
    : `the V2 token lacks ${reason.scopes.join(" ")}`

const fallbacks = Metric.counter("credit_data.migration.fallbacks", {
  description: "How often the fallback to V1 tokens began, by reason.",
  incremental: true
})

/** How often it began for this reason. */
const counterOf = (
  { clientId, environment }: AccessTokens.Service,
  reason: MigrationReport.FallbackReason["_tag"]
) =>
  Metric.taggedWithLabels(
    fallbacks,
    Object.entries({
      "credit_data.environment": environment.name,
      ...(clientId !== undefined && { "credit_data.client_id": shownClientId(clientId) }),
      reason
    }).map(([key, value]) => MetricLabel.make(key, value))
  )

/**
 * The fallback of one endpoint group, or of all: whether callers get V1 tokens instead of V2 tokens, since when, and why. It ends with the
 * plan under which it began.
 */
export const make = (
  { inUse, run }: CurrentPlan,
  clock: Clock.Clock,
  v2: AccessTokens.Service,
  scope?: AccessScope
) => {
  const where = `${scope === undefined ? "" : ` for ${scope}`} (${clientOf(v2.environment.name, v2.clientId)})`
  let last: { readonly plan: Plan; readonly fallback: MigrationReport.Fallback } | undefined
  let neededAt: Instant.Instant | undefined
  const now = () => Instant.now(clock)
  const current = () => last?.plan === inUse() ? last.fallback : undefined
  return {
    isOn: () => current() !== undefined,
    /** Does nothing if the plan in use has no fallback. */
    begin: (reason: MigrationReport.FallbackReason): void => {
      if (!hasFallback(inUse())) return
      const before = current()
      const since = before?.since ?? Instant.wallTime(now())
      last = { plan: inUse(), fallback: { since, reason, scope: Option.fromNullable(scope) } }
      if (before !== undefined) return
      run(Effect.zipRight(
        Metric.update(counterOf(v2, reason._tag), 1),
        Effect.logWarning(`Using V1 tokens${where} until Auth V2 works, because ${causeOf(reason)}.`)
      ))
    },
    end: (): void => {
      if (current() !== undefined) run(Effect.logInfo(`Auth V2 works again${where}. Its tokens are used from now on.`))
      last = undefined
    },
    /** A call got 401 with V2 tokens, and is sent with a V1 token. The next call begins with a V2 token again. */
    needed: (): void => {
      const at = now()
      const isNews = neededAt === undefined || Instant.reached(at, Instant.later(neededAt, quietMillis))
      neededAt = at
      if (isNews) {
        run(Effect.logWarning(
          `The API rejected V2 tokens for calls${where}, so those calls were sent again with a V1 token. Each of them is sent up to ` +
            "three times. Run credit-data compare with their paths before you turn the fallback off."
        ))
      }
    },
    report: () => Option.toArray(Option.fromNullable(current()))
  }
}
