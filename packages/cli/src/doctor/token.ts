import * as AuthV1 from "@credit-data/auth-v1/AuthV1"
import * as AuthV2 from "@credit-data/auth-v2/AuthV2"
import type { AccessToken } from "@credit-data/core/AccessToken"
import * as Replaces from "@credit-data/core/Replaces"
import * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import type { TokenError } from "@credit-data/core/TokenError"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Setup } from "./configuration.ts"
import { type Failed, type Finding, instant, length, ok, reasons } from "./step.ts"

/** Shorter than the step, because the error of the token request is more specific than the end of the step. */
const settings = { deadline: "9 seconds" } as const

const endpoints = {
  v1: AuthV1.layerTokenEndpointConfig(settings),
  v2: AuthV2.layerTokenEndpointConfig(settings)
}

const see = (variables: string): string => `See ${variables}.`

/** The variable that a code is about. The contract has no code for a wrong audience, so any other code may stand for it. */
const byCode: ReadonlyMap<string | undefined, string> = new Map([
  ["invalid_scope", see("CREDIT_DATA_SCOPES")],
  ["unauthorized_client", see("CREDIT_DATA_CLIENT_ID")],
  ["access_denied", see("CREDIT_DATA_AUDIENCE")],
  ["invalid_request", see("CREDIT_DATA_AUDIENCE")],
  ["invalid_target", see("CREDIT_DATA_AUDIENCE")]
])

/** Codes that cannot be about the audience. */
const isClear = (code: string | undefined): boolean => code === "invalid_scope" || code === "unauthorized_client"

const isWrongAddress = ({ error, status }: { readonly error?: string | undefined; readonly status: number }) =>
  status === 404 || status === 405 || status === 410 || error === "unsupported_grant_type"

/** The library waits no longer, even if the server asks for more. */
const longestPause = Duration.minutes(1)

/** How long the server asks clients to wait. */
const pauseOf = ({ retryAfter }: { readonly retryAfter?: Duration.Duration | undefined }): string => {
  if (retryAfter === undefined) return ""
  const atLeast = Duration.greaterThanOrEqualTo(retryAfter, longestPause) ? "at least " : ""
  return `, and it asks clients to wait ${atLeast}${length(Duration.toMillis(retryAfter))} (Retry-After)`
}

/** What happened, and the variables to look at, which the message of the error cannot name. */
const explain = (error: TokenError, address: string): readonly [detail: string, variables?: string] => {
  switch (error._tag) {
    case "InvalidClient":
      return [
        `the client was refused: ${response(error)}`,
        see("CREDIT_DATA_CLIENT_ID and CREDIT_DATA_CLIENT_SECRET")
      ]
    case "ServerError":
      if (error.retryable) return [`temporary failure: ${response(error)}${pauseOf(error)}`]
      if (error.status >= 500) return [`error response: ${response(error)}`]
      if (isWrongAddress(error)) return [`no token endpoint there: ${response(error)}`, see(address)]
      return [
        `error response: ${response(error)}${isClear(error.error) ? "" : "; the audience may be wrong"}`,
        byCode.get(error.error) ?? "Check CREDIT_DATA_AUDIENCE too: servers refuse a wrong audience in different ways."
      ]
    case "InvalidResponse":
      return [`the response is not a token: ${error.status}`, see(address)]
    case "TransportError":
      return [`no complete response: ${reasons[error.reason]}`]
  }
}

const response = ({ error, status }: { readonly error?: string | undefined; readonly status: number }): string =>
  error === undefined ? String(status) : `${status} ${error}`

/** A token, and where it came from. */
export interface Obtained {
  readonly endpoint: TokenEndpoint.Service
  readonly token: AccessToken
}

/** Obtains one token. */
export const check = Effect.fnUntraced(
  function*(setup: Setup): Effect.fn.Return<Finding<Obtained>, Failed, HttpClient.HttpClient> {
    const endpoint = yield* Effect.mapError(
      Effect.provide(TokenEndpoint.TokenEndpoint, endpoints[setup.version]),
      (error) => ({ detail: "the variables cannot be used", advice: [error.message], notes: [] })
    )
    const token = yield* Effect.mapError(endpoint.requestToken(Replaces.Nothing()), (error) => {
      const [detail, ...variables] = explain(error, setup.authorizationServer.variable)
      return { detail, advice: [[error.message, ...variables].join(" ")], notes: [] }
    })
    const expiresAt = DateTime.toEpochMillis(token.expiresAt)
    const lifetime = DateTime.distance(token.requestedAt, token.expiresAt)
    return ok(`valid for ${length(lifetime)}, until ${instant(expiresAt)}`, { endpoint, token })
  }
)
