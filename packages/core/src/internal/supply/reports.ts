import type * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { AccessToken } from "../../AccessToken.ts"
import type * as TokenEndpoint from "../../TokenEndpoint.ts"
import type { TokenError } from "../../TokenError.ts"
import * as TokenEvent from "../../TokenEvent.ts"
import * as Instant from "../instant.ts"
import { logDebug, logError, logInfo, logWarning } from "../safeLog.ts"
import * as Broadcast from "./broadcast.ts"
import type { State } from "./tokenLife.ts"

/** A token request. */
export interface Attempt {
  readonly reason: TokenEvent.RequestReason
  readonly sentAt: Instant.Instant
}

/** What a supply reports, as events and in the log. */
export interface Reports {
  readonly events: Stream.Stream<TokenEvent.TokenEvent>
  readonly eventsLost: () => number
  readonly requested: (attempt: Attempt) => Effect.Effect<void>
  readonly obtained: (
    attempt: Attempt,
    token: AccessToken,
    about: { readonly dueAt: Instant.Instant; readonly isRenewal: boolean; readonly streak: State["streak"] }
  ) => Effect.Effect<void>
  /** The requested scopes that a token does not cover. They are logged once. */
  readonly grantedLess: (missing: ReadonlyArray<string>) => Effect.Effect<void>
  readonly failed: (attempt: Attempt, error: TokenError) => Effect.Effect<void>
  /** A failure is not retried now. It is logged when it is the first one, when it is of another kind, and when the token expires. */
  readonly gaveUp: (
    error: TokenError,
    about: { readonly token: "None" | "Rejected" | "Valid"; readonly previous: TokenError | undefined }
  ) => Effect.Effect<void>
  readonly invalidated: Effect.Effect<void>
  /** The API rejected the replacement of a rejected token too, and the next one is not requested before this instant. */
  readonly rejectedAgain: (nextTryAt: Instant.Instant) => Effect.Effect<void>
}

/** The token that callers get after a failed renewal. */
const inUse = {
  None: "",
  Rejected: "; the token that the API rejected remains in use",
  Valid: "; the current token remains in use"
}

const afterFailures = (streak: State["streak"]): string => {
  if (streak === undefined) return ""
  const { failures, since } = streak
  return `, after ${failures} failed ${failures === 1 ? "request" : "requests"} since ` +
    DateTime.formatIso(Instant.wallTime(since))
}

export const make = Effect.fnUntraced(function*(
  { environment, url }: TokenEndpoint.Service,
  clock: Clock.Clock
): Effect.fn.Return<Reports, never, Scope.Scope> {
  const where = `${url} (${environment.name})`
  const { lost, publish, stream } = yield* Broadcast.make<TokenEvent.TokenEvent>(64)
  let grantWasShort = false
  let saidNoToken = false

  const announce = (event: (at: DateTime.Utc) => TokenEvent.TokenEvent) =>
    publish(() => event(Instant.wallTime(Instant.now(clock))))

  /** What the events of a request that ended have in common. */
  const ended = ({ reason, sentAt }: Attempt) => ({
    tokenEndpoint: url,
    reason,
    duration: Duration.millis(Instant.millisBetween(sentAt, Instant.now(clock)))
  })

  return {
    events: stream,
    eventsLost: lost,
    requested: ({ reason }) => announce((at) => TokenEvent.Requested({ at, tokenEndpoint: url, reason })),
    obtained: (attempt, token, { dueAt, isRenewal, streak }) => {
      const { expiresAt, scopes } = token
      saidNoToken = false
      return Effect.zipRight(
        announce((at) =>
          (token.shared ? TokenEvent.Shared : isRenewal ? TokenEvent.Renewed : TokenEvent.Obtained)({
            at,
            ...ended(attempt),
            scopes,
            expiresAt,
            dueAt: Instant.wallTime(dueAt)
          })
        ),
        // a success is no news, unless requests failed before: the default logger of Effect writes to standard output
        (streak === undefined ? logDebug : logInfo)(
          `An access token was ${
            token.shared ? "taken from the shared store, for" : isRenewal ? "renewed from" : "obtained from"
          } ${where}${afterFailures(streak)}. ` +
            `It expires at ${DateTime.formatIso(expiresAt)}.`
        )
      )
    },
    grantedLess: (missing) =>
      Effect.suspend(() => {
        if (missing.length === 0 || grantWasShort) return Effect.void
        grantWasShort = true
        return logWarning(
          `The token endpoint ${where} granted less than was requested: ` +
            `${missing.join(" ")} is missing. Calls that need it fail. Ask the operator to grant it to this client.`
        )
      }),
    failed: (attempt, error) => announce((at) => TokenEvent.Failed({ at, ...ended(attempt), error })),
    gaveUp: (error, { previous, token }) => {
      if (!error.retryable && previous?._tag !== error._tag) {
        return logError(`Token requests are refused${inUse[token]}. ${error.message}`)
      }
      if (token !== "None") {
        return previous === undefined
          ? logWarning(`An access token could not be renewed${inUse[token]}. ${error.message}`)
          : Effect.void
      }
      if (saidNoToken || !error.retryable) return Effect.void
      saidNoToken = true
      return logError(`There is no valid access token, and calls fail. ${error.message}`)
    },
    rejectedAgain: (nextTryAt) =>
      logWarning(
        `The API rejected a new access token from ${where} soon after it had rejected the previous token, so calls fail with 401. ` +
          `Next token request not before ${DateTime.formatIso(Instant.wallTime(nextTryAt))}. ` +
          "If this persists, ask the operator why the API rejects new tokens."
      ),
    invalidated: announce((at) => TokenEvent.Invalidated({ at, tokenEndpoint: url }))
  }
})
