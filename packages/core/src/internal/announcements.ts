import type * as Clock from "effect/Clock"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { AccessToken } from "../AccessToken.ts"
import type * as TokenEndpoint from "../TokenEndpoint.ts"
import type { TokenError } from "../TokenError.ts"
import * as TokenEvent from "../TokenEvent.ts"
import * as Broadcast from "./broadcast.ts"
import * as Instant from "./instant.ts"
import * as Lines from "./logLines.ts"
import { clientOf } from "./printable.ts"
import * as TokenState from "./tokenState.ts"

// The events and the log lines of a supply.

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
      lost.length === 0 ? Effect.void : Lines.scopesMissing(where, lost),
      returned.length === 0 ? Effect.void : Lines.scopesGranted(where, returned)
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
      const isRenewal = TokenState.inUse(before, Instant.now(clock)) !== undefined
      const [event, line] = isShared
        ? [TokenEvent.Shared, Lines.shared]
        : isRenewal
        ? [TokenEvent.Renewed, Lines.renewed]
        : [TokenEvent.Obtained, Lines.obtained]
      return announce((at) =>
        event({ at, ...ended(reason, sentAt), scopes, expiresAt, dueAt: Instant.wallTime(dueAt) })
      ).pipe(
        Effect.zipRight(line(where, token, before.streak)),
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
        return Lines.noToken(error)
      }
      if (previous !== undefined && !isOfAnotherKind) return Effect.void
      const line = isRefusal(error) ? Lines.refused : Lines.notRenewed
      return line(error, held.rejectedAt === undefined ? "current token" : "token that the API rejected")
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
        return Lines.rejected(where, isFirst ? undefined : before)
      }),
    /** The program's endpoint, logger or tracer has a defect. */
    died: (defect: unknown): Effect.Effect<void> => Lines.died(where, defect)
  }
})
