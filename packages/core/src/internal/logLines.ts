import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { AccessToken } from "../AccessToken.ts"
import type { TokenError } from "../TokenError.ts"
import * as Instant from "./instant.ts"
import { longestPauseAfter } from "./pauses.ts"
import { printableScopes } from "./printable.ts"
import type { State } from "./tokenState.ts"

// The lines of the log. Each docstring says when its line is logged, and when again, for the reference table.

const afterFailures = (streak: State["streak"]): string => {
  if (streak === undefined) return ""
  const { failures, since } = streak
  return `, after ${failures} failed ${failures === 1 ? "request" : "requests"} since ` +
    DateTime.formatIso(Instant.wallTime(since))
}

const arrived = (what: string) => (where: string, { expiresAt }: AccessToken, streak: State["streak"]) =>
  // a success is no news, unless requests failed before: the default logger of Effect writes to standard output
  (streak === undefined ? Effect.logDebug : Effect.logInfo)(
    `An access token was ${what} ${where}${afterFailures(streak)}. It expires at ${DateTime.formatIso(expiresAt)}.`
  )

/** There was no valid token. INFO after failures, with their number and the time of the first. Again: each time. */
export const obtained = arrived("obtained from")

/** A new token has replaced a valid one. INFO after failures. Again: each time. */
export const renewed = arrived("renewed from")

/** Another process had obtained a token. INFO after failures. Again: each time. */
export const shared = arrived("taken from the shared store, for")

/** Calls begin to fail. Again: after the next token, or if a failure of another kind follows that a retry cannot help. */
export const noToken = (error: Pick<TokenError, "message">) =>
  Effect.logError(`There is no valid access token, and calls that need one fail. ${error.message}`)

/** A renewal was refused, and a token remains. Again: after the next token, or if the type of the failure changes. */
export const refused = (error: Pick<TokenError, "message">, remaining: string) =>
  Effect.logError(`Token requests are refused; the ${remaining} remains in use. ${error.message}`)

/**
 * A renewal failed, and a token remains. ERROR if a retry cannot help. Again: after the next token, or if a failure of another kind follows
 * that a retry cannot help.
 */
export const notRenewed = (error: Pick<TokenError, "message" | "retryable">, remaining: string) =>
  (error.retryable ? Effect.logWarning : Effect.logError)(
    `An access token could not be renewed; the ${remaining} remains in use. ${error.message}`
  )

/** Your TokenEndpoint, tracer or logger has a defect. Again: each time. */
export const died = (where: string, defect: unknown) =>
  Effect.logError(
    `The token request to ${where} died with ${
      Predicate.isError(defect) ? defect.name : "a value that is not an error"
    }. Fix your TokenEndpoint, tracer or logger: requestToken must fail with a TokenError. The next attempt is in ${
      longestPauseAfter() / 1_000
    } seconds.`
  )

/** A renewal is forced. The line names the previous one if that was within ten minutes. Again: at most every 30 seconds. */
export const rejected = (where: string, before: Instant.Instant | undefined) =>
  Effect.logWarning(
    before === undefined
      ? `The API rejected the access token from ${where}. Another token is requested.`
      : `The API rejected the access token from ${where} again. The last token for this reason was requested at ${
        DateTime.formatIso(Instant.wallTime(before))
      }. Another token is requested. If only some paths return 401, ask the operator to authorize this client for them. ` +
        "If all paths do, ask why the API rejects new tokens."
  )

/** A requested scope is missing. Again: after it was granted. */
export const scopesMissing = (where: string, scopes: ReadonlyArray<string>) =>
  Effect.logWarning(
    `The token endpoint ${where} did not grant: ${printableScopes(scopes)}. Calls that need a missing scope fail. ` +
      "Ask the operator to grant it to this client."
  )

/** A missing scope is granted. Again: each time. */
export const scopesGranted = (where: string, scopes: ReadonlyArray<string>) =>
  Effect.logInfo(`The token endpoint ${where} grants again: ${printableScopes(scopes)}.`)

/** A token has no lifetime. Again: each time. */
export const noLifetime = (where: string, usedFor: Duration.Duration) =>
  Effect.logWarning(
    `The token endpoint ${where} did not return expires_in. The token is used for ${Duration.format(usedFor)}.`
  )

/** The credentials cannot be read again, and the previous ones remain in use. Again: after they were read, or if the failure changes. */
export const credentialsNotRead = (client: string, fault: string) =>
  Effect.logWarning(
    `The client credentials of ${client} could not be read again: ${fault}. ` +
      "The previous credentials remain in use. Check the secret manager, the variables or the mounted files."
  )

/** Your code builds the layer twice. Again: only after a minute without another build. */
export const secondSupply = (where: string) =>
  Effect.logWarning(
    `A second supply of access tokens was built within a minute for ${where} and the same scopes. ` +
      "Each supply sends its own token requests. Build the layer, or open the connection, once and for the whole program."
  )
