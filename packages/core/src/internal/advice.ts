import * as DateTime from "effect/DateTime"
import type { ResponseRule, ServerError, TransportReason } from "../TokenError.ts"

// What the failures say to a person on call: what happened, where, and what to do.

interface Failure {
  readonly environment: string
  readonly tokenEndpoint: string
  readonly hint?: string | undefined
  readonly nextTryAt?: DateTime.Utc | undefined
}

interface Answer {
  readonly status: number
  readonly error?: string | undefined
  readonly description?: string | undefined
}

export const message = (failure: Failure, what: string, todo: string): string =>
  [
    `The token endpoint ${failure.tokenEndpoint} (${failure.environment}) ${what}.`,
    failure.hint ?? todo,
    ...(failure.nextTryAt === undefined ? [] : [`Not asked again before ${DateTime.formatIso(failure.nextTryAt)}.`])
  ].join(" ")

/** A failure as JSON, with the message: that is what a person reads. */
export const json = (failure: Error & { readonly retryable: boolean }): object => ({
  ...failure,
  message: failure.message,
  retryable: failure.retryable
})

export const answer = ({ description, error, status }: Answer): string =>
  `${status}${error === undefined ? "" : ` ${error}`}${description === undefined ? "" : ` ("${description}")`}`

export const refusedClient =
  "Check that the client id and the client secret are those of this environment, and whether the operator has rotated them."

const wrongServer = "Check that the authorization server is the one of this environment and of this version."

const byCode: ReadonlyMap<string | undefined, string> = new Map([
  ["access_denied", "Check that the audience is the one of this environment, and that the client may ask for it."],
  ["invalid_request", "Check that the audience is the one of this environment."],
  ["invalid_scope", "Ask only for scopes that the operator has granted to this client."],
  ["invalid_target", "Check that the audience is the one of this environment."],
  ["unauthorized_client", "Ask the operator to allow this client the client_credentials grant."],
  ["unsupported_grant_type", wrongServer]
])

const passing = "This is usually passing: the next call after a pause asks again. If it stays, ask the operator."

export const failedServer = (failure: ServerError): string =>
  byCode.get(failure.error) ?? (failure.retryable ? passing : wrongServer)

export const brokenRule: Record<ResponseRule, string> = {
  Redirect: "a redirect, which is never followed",
  Status: "a status that the contract doesn't know",
  Size: "a body that is too large",
  Utf8: "a body that isn't UTF-8",
  Json: "a body that isn't JSON",
  Object: "a body that isn't a JSON object",
  AccessToken: "access_token is missing or can't be sent in a header",
  TokenType: "token_type is missing or isn't Bearer",
  ExpiresIn: "expires_in isn't a whole number of seconds above zero",
  Scope: "scope isn't a list of printable names",
  Expired: "the token had expired when it arrived"
}

export const invalidResponse =
  "Check that the address is the authorization server's, and that no proxy or login page answers in its place."

export const reason: Record<TransportReason, string> = {
  NameNotFound: "its host name doesn't resolve",
  Refused: "the connection was refused",
  Unreachable: "its host can't be reached",
  Reset: "the connection was closed before an answer",
  Cut: "the connection ended in the middle of the answer",
  Garbled: "what came isn't HTTP",
  Tls: "no trusted TLS connection, so the secret was not sent",
  Timeout: "the deadline passed",
  Other: "the connection failed"
}

export const transport: Record<TransportReason, string> = {
  NameNotFound: "Check the address of the authorization server, and the name service.",
  Refused: "Check the address and the port of the authorization server.",
  Unreachable: "Check the network, and the rules of its firewalls.",
  Reset: passing,
  Cut: passing,
  Garbled: "Check that the address is the authorization server's, and what stands between here and there.",
  Tls: "Check the server's certificate, and the authorities that this program trusts.",
  Timeout: "Check whether the authorization server is slow or a firewall swallows the connection.",
  Other: "Check the network between here and the authorization server."
}
