import type { AccessToken } from "@credit-data/core/AccessToken"
import { longestPauseAfter } from "@credit-data/core/Internal"
import type { ServerError, TokenError } from "@credit-data/core/TokenError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Setup } from "./configuration.ts"
import { failed, type Finding, instant, length, ok } from "./step.ts"

/** How long the server asks clients to wait. The library waits no longer than its longest pause, and does not keep what exceeds it. */
const pauseOf = ({ endpointStatus, retryAfter }: ServerError): string => {
  if (retryAfter === undefined) return ""
  const millis = Duration.toMillis(retryAfter)
  const limit = millis < longestPauseAfter(endpointStatus) ? "" : "at least "
  return `, and it asks clients to wait ${limit}${length(millis)} (Retry-After)`
}

/** What happened, and the variables to look at, which the message of the error cannot name. */
const explain = (error: TokenError, address: string): readonly [detail: string, variables?: string] => {
  if (error._tag === "TransportError") return [`no complete response (${error.reason})`]
  if (error._tag === "InvalidResponse") return [`the response is not a token: ${error.endpointStatus}`, address]
  const response = [error.endpointStatus, error.error ?? []].flat().join(" ")
  if (error._tag === "InvalidClient" || error.error === "invalid_client") {
    return [`the client was refused: ${response}`, "CREDIT_DATA_CLIENT_ID and CREDIT_DATA_CLIENT_SECRET"]
  }
  if (error.retryable) return [`temporary failure: ${response}${pauseOf(error)}`]
  if ([404, 405, 410].includes(error.endpointStatus) || error.error === "unsupported_grant_type") {
    return [`no token endpoint there: ${response}`, address]
  }
  if (error.error === undefined) return [`not an OAuth error: ${response}`]
  const detail = `error response: ${response}`
  if (error.endpointStatus >= 500) return [detail]
  if (error.error === "invalid_scope") return [detail, "CREDIT_DATA_SCOPES"]
  if (error.error === "unauthorized_client") return [detail, "CREDIT_DATA_CLIENT_ID"]
  return error.error === "invalid_target" ? [`${detail}; the audience may be wrong`, "CREDIT_DATA_AUDIENCE"] : [detail]
}

/** A token. */
export interface Obtained extends Finding {
  readonly token: AccessToken
}

/** Obtains one token. */
export const check = ({ authorizationServer, endpoint, lastResponse }: Setup): Effect.Effect<Obtained, Finding> =>
  Effect.matchEffect(endpoint.requestToken({ _tag: "Nothing" }), {
    onFailure: (error) => {
      const encoding = lastResponse()?.headers["content-encoding"]
      const isCompressed = error._tag === "InvalidResponse" && encoding !== undefined && encoding !== "identity"
      if (isCompressed) {
        return failed(`the response is compressed (${encoding}), which was not requested`, error.message)
      }
      const [detail, variables] = explain(error, authorizationServer.variable)
      return failed(detail, [error.message, variables === undefined ? [] : `See ${variables}.`].flat().join(" "))
    },
    onSuccess: (token) => {
      const lifetime = DateTime.distance(token.requestedAt, token.expiresAt)
      const until = instant(DateTime.toEpochMillis(token.expiresAt))
      return Effect.succeed({ ...ok(`valid for ${length(lifetime)}, until ${until}`), token })
    }
  })

const list = (scopes: ReadonlyArray<string>): string => scopes.length === 0 ? "none" : scopes.join(", ")

/** Compares the granted scopes with the requested ones. V1 has no requested ones, so nothing can be missing there. */
export const checkScopes = ({ endpoint }: Setup, token: AccessToken): Effect.Effect<Finding, Finding> => {
  const missing = token.missing(endpoint.requestedScopes)
  const granted = `granted: ${list(token.scopes)}`
  return missing.length === 0
    ? Effect.succeed(ok(granted))
    : failed(
      `missing: ${list(missing)}; ${granted}`,
      `Ask the operator to grant ${
        list(missing)
      } to this client, or remove what you do not need from CREDIT_DATA_SCOPES.`
    )
}
