import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import { clientOf, printable, shownClientId } from "./printable.ts"
import { transportReasons } from "./transportReason.ts"

// A failure as text and as JSON: where it happened, and what.

interface Failure {
  readonly environment: string
  readonly clientId?: string | undefined
  readonly tokenEndpoint: string
  readonly hint?: string | undefined
  readonly nextTryAt?: DateTime.Utc | undefined
  readonly sharedUntil?: DateTime.Utc | undefined
}

export interface Refusal {
  readonly endpointStatus: number
  readonly error?: string | undefined
  readonly description?: string | undefined
}

export const message = (failure: Failure, what: string, todo: string): string =>
  [
    `The token endpoint ${failure.tokenEndpoint} (${clientOf(failure.environment, failure.clientId)}) ${what}.`,
    ...(failure.sharedUntil === undefined ? [] : ["Another process with these credentials received this response."]),
    failure.hint ?? todo,
    ...(failure.nextTryAt === undefined ? [] : [`Next attempt not before ${DateTime.formatIso(failure.nextTryAt)}.`])
  ].join(" ")

/** A failure as JSON, with the message that people read. The server's texts are printed like in the message. */
export const json = (
  failure: Error & {
    readonly retryable: boolean
    readonly clientId?: string | undefined
    readonly error?: string | undefined
    readonly description?: string | undefined
  }
): object => ({
  ...failure,
  ...(failure.clientId !== undefined && { clientId: shownClientId(failure.clientId) }),
  ...(failure.error !== undefined && { error: printable(failure.error) }),
  ...(failure.description !== undefined && { description: printable(failure.description) }),
  message: failure.message,
  retryable: failure.retryable
})

export const refusal = ({ description, endpointStatus, error }: Refusal): string =>
  `${endpointStatus}${error === undefined ? "" : ` ${printable(error)}`}${
    description === undefined ? "" : ` ("${printable(description)}")`
  }`

export const brokenRule = {
  Redirect: "a redirect, which is never followed",
  Status: "a status outside the contract",
  Size: "a body that is too large",
  Encoding: "a body that does not fit its Content-Encoding",
  Utf8: "a body that is not UTF-8",
  Json: "a body that is not JSON",
  Object: "a body that is not a JSON object",
  AccessToken: "access_token is missing or cannot be sent in a header",
  TokenType: "token_type is missing or is not Bearer",
  ExpiresIn: "expires_in is not a number of seconds",
  Scope: "scope is not text",
  Expired: "the token had already expired when it arrived"
}

/** A duration in seconds, such as `9.5 s`. */
const duration = (input: Duration.DurationInput): string => `${Math.round(Duration.toMillis(input) / 100) / 10} s`

interface NoResponse {
  readonly reason: keyof typeof transportReasons
  readonly deadline?: Duration.Duration | undefined
  readonly proxy?: string | undefined
  readonly proxyStatus?: number | undefined
}

/** Why there was no complete response, and which proxy failed and how. */
export const happened = (failure: NoResponse): string =>
  failure.reason !== "Proxy" ?
    transportReasons[failure.reason].what :
    `the forward proxy ${failure.proxy === undefined ? "" : `${failure.proxy} `}${
      failure.proxyStatus === undefined ? "could not be reached" : `returned ${failure.proxyStatus}`
    }`

/** What happened to a token request that got no complete response. */
export const noResponse = (failure: NoResponse): string =>
  failure.reason === "Timeout"
    ? `did not respond ${failure.deadline === undefined ? "in time" : `within ${duration(failure.deadline)}`}`
    : `${
      failure.reason === "NotAllowed" || failure.reason === "Closed"
        ? "got no request"
        : "returned no complete response"
    }: ${happened(failure)}`
