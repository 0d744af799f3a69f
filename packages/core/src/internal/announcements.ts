import type * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { AccessToken } from "../AccessToken.ts"
import type * as TokenEndpoint from "../TokenEndpoint.ts"
import type { TokenError } from "../TokenError.ts"
import * as TokenEvent from "../TokenEvent.ts"
import * as Broadcast from "./broadcast.ts"
import * as Instant from "./instant.ts"
import { clientOf, printableScopes } from "./printable.ts"
import * as TokenState from "./tokenState.ts"

const afterFailures = (streak: TokenState.State["streak"]): string => {
  if (streak === undefined) return ""
  const { failures, since } = streak
  return `, after ${failures} failed ${failures === 1 ? "request" : "requests"} since ` +
    DateTime.formatIso(Instant.wallTime(since))
}

/** A forced renewal has a line in the log at most once in this time. */
const forcedLineMillis = 30_000

/** A forced renewal that follows another within this time does not help. */
const recentMillis = 10 * 60_000

/** A refusal needs the operator, in contrast to a certificate or a login page. */
const isRefusal = (error: TokenError): boolean =>
  !error.retryable && (error._tag === "InvalidClient" || error._tag === "ServerError")

/** What a supply announces, as events and in the log. */
export const make = Effect.fnUntraced(function*(
  { clientId, environment, requestedScopes, sharing, url }: TokenEndpoint.Service,
  clock: Clock.Clock
) {
  const where = `${url} (${clientOf(environment.name, clientId)})`
  const { publish, stream } = yield* Broadcast.make<TokenEvent.TokenEvent>(64)
  if (sharing !== undefined) yield* sharing.listen((event) => publish(() => event))
  /** The requested scopes that the last token does not cover. */
  let missing: ReadonlyArray<string> = []
  /** That there is no token was logged. */
  let saidNoToken = false
  /** When a renewal was forced last, and when that was logged last. */
  let forcedAt: Instant.Instant | undefined
  let forcedLoggedAt: Instant.Instant | undefined

  const announce = (event: (at: DateTime.Utc) => TokenEvent.TokenEvent) =>
    publish(() => event(Instant.wallTime(Instant.now(clock))))

  /** What the events of a request that ended have in common. */
  const ended = (reason: TokenEvent.RequestReason, sentAt: Instant.Instant) => ({
    tokenEndpoint: url,
    reason: reason._tag,
    duration: Duration.millis(Instant.millisBetween(sentAt, Instant.now(clock)))
  })

  /** A scope that is lost, and one that is granted again. */
  const scopesChanged = (token: AccessToken): Effect.Effect<void> => {
    const before = missing
    missing = token.missing(requestedScopes)
    const lost = missing.filter((scope) => !before.includes(scope))
    const returned = before.filter((scope) => !missing.includes(scope))
    return Effect.zipRight(
      lost.length === 0 ? Effect.void : Effect.logWarning(
        `The token endpoint ${where} did not grant: ${printableScopes(lost)}. Calls that need a missing scope fail. ` +
          "Ask the operator to grant it to this client."
      ),
      returned.length === 0 ? Effect.void : Effect.logInfo(
        `The token endpoint ${where} grants again: ${printableScopes(returned)}.`
      )
    )
  }

  return {
    events: stream,
    requested: (reason: TokenEvent.RequestReason) =>
      announce((at) => TokenEvent.Requested({ at, tokenEndpoint: url, reason: reason._tag })),
    obtained: (
      reason: TokenEvent.RequestReason,
      sentAt: Instant.Instant,
      { dueAt, token }: TokenState.Held,
      before: TokenState.State
    ): Effect.Effect<void> => {
      const { expiresAt, scopes } = token
      const isShared = sharing?.wasFound(token) ?? false
      saidNoToken = false
      const { streak } = before
      const isRenewal = TokenState.inUse(before, Instant.now(clock)) !== undefined
      const event = isShared ? TokenEvent.Shared : isRenewal ? TokenEvent.Renewed : TokenEvent.Obtained
      const what = isShared ? "taken from the shared store, for" : isRenewal ? "renewed from" : "obtained from"
      return announce((at) =>
        event({ at, ...ended(reason, sentAt), scopes, expiresAt, dueAt: Instant.wallTime(dueAt) })
      ).pipe(
        Effect.zipRight(
          // a success is no news, unless requests failed before: the default logger of Effect writes to standard output
          (streak === undefined ? Effect.logDebug : Effect.logInfo)(
            `An access token was ${what} ${where}${afterFailures(streak)}. It expires at ${
              DateTime.formatIso(expiresAt)
            }.`
          )
        ),
        Effect.zipRight(scopesChanged(token))
      )
    },
    failed: (reason: TokenEvent.RequestReason, sentAt: Instant.Instant, error: TokenError) =>
      announce((at) => TokenEvent.Failed({ at, ...ended(reason, sentAt), error })),
    /** A failure is not retried now. */
    gaveUp: (
      error: TokenError,
      held: TokenState.Held | undefined,
      previous: TokenError | undefined
    ): Effect.Effect<void> => {
      const isOfAnotherKind = !error.retryable && previous?._tag !== error._tag
      if (held === undefined) {
        if (saidNoToken && !isOfAnotherKind) return Effect.void
        saidNoToken = true
        return Effect.logError(`There is no valid access token, and calls that need one fail. ${error.message}`)
      }
      if (previous !== undefined && !isOfAnotherKind) return Effect.void
      const remains = held.rejectedAt === undefined ? "current token" : "token that the API rejected"
      const what = isRefusal(error) ? "Token requests are refused" : "An access token could not be renewed"
      return (error.retryable ? Effect.logWarning : Effect.logError)(
        `${what}; the ${remains} remains in use. ${error.message}`
      )
    },
    /** The API rejected a token. */
    invalidated: announce((at) => TokenEvent.Invalidated({ at, tokenEndpoint: url })),
    /** A renewal is forced, because the API rejected every token that the supply holds. */
    forced: (at: Instant.Instant): Effect.Effect<void> =>
      Effect.suspend(() => {
        const before = forcedAt
        forcedAt = at
        // while renewals fail, they are forced more often
        if (forcedLoggedAt !== undefined && !Instant.reached(at, Instant.later(forcedLoggedAt, forcedLineMillis))) {
          return Effect.void
        }
        forcedLoggedAt = at
        const isFirst = before === undefined || Instant.reached(at, Instant.later(before, recentMillis))
        return Effect.logWarning(
          isFirst
            ? `The API rejected the access token from ${where}. Another token is requested.`
            : `The API rejected the access token from ${where} again. The last token for this reason was requested at ${
              DateTime.formatIso(Instant.wallTime(before))
            }. Another token is requested. If only some paths return 401, ask the operator to authorize this client for them. ` +
              "If all paths do, ask why the API rejects new tokens."
        )
      }),
    /** The program's endpoint, logger or tracer has a defect. */
    died: (defect: unknown): Effect.Effect<void> =>
      Effect.logError(
        `The token request to ${where} died with ${
          Predicate.isError(defect) ? defect.name : "a value that is not an error"
        }. Fix your TokenEndpoint, tracer or logger: requestToken must fail with a TokenError. The next attempt is in a minute.`
      )
  }
})
