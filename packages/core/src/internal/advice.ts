import * as DateTime from "effect/DateTime"

// The messages of the failures, for the engineer on call: what happened, where, and what to do.

interface Failure {
  readonly environment: string
  readonly tokenEndpoint: string
  readonly hint?: string | undefined
  readonly deadlineEnded?: boolean | undefined
  readonly nextTryAt?: DateTime.Utc | undefined
  readonly shared?: boolean | undefined
}

interface Refusal {
  readonly status: number
  readonly error?: string | undefined
  readonly description?: string | undefined
}

export const message = (failure: Failure, what: string, todo: string): string =>
  [
    `The token endpoint ${failure.tokenEndpoint} (${failure.environment}) ${what}.`,
    ...(failure.shared === true ? ["Another process of the fleet received this response."] : []),
    ...(failure.deadlineEnded === true ? ["The deadline ended the retries."] : []),
    failure.hint ?? todo,
    ...(failure.nextTryAt === undefined ? [] : [`Next attempt not before ${DateTime.formatIso(failure.nextTryAt)}.`])
  ].join(" ")

/** A failure as JSON, with the message that people read. */
export const json = (failure: Error & { readonly retryable: boolean }): object => ({
  ...failure,
  message: failure.message,
  retryable: failure.retryable
})

export const refusal = ({ description, error, status }: Refusal): string =>
  `${status}${error === undefined ? "" : ` ${error}`}${description === undefined ? "" : ` ("${description}")`}`

export const refusedClient =
  "Check that the client id and the client secret belong to this environment, and whether the operator has rotated them."

const wrongServer =
  "Check that the address belongs to this environment and to the Auth version (V1 or V2) that the program uses."

const byCode: ReadonlyMap<string | undefined, string> = new Map([
  ["access_denied", "Check that the audience belongs to this environment, and that the client may request it."],
  ["invalid_request", "Check that the audience belongs to this environment."],
  ["invalid_scope", "Request only scopes that the operator has granted to this client."],
  ["invalid_target", "Check that the audience belongs to this environment."],
  ["unauthorized_client", "Ask the operator to allow this client the client_credentials grant."],
  ["unsupported_grant_type", wrongServer]
])

const temporary = "This is usually temporary. If it persists, contact the operator."

const inFront =
  "The response is not an OAuth error: a gateway, firewall or proxy in front of the authorization server may " +
  "have sent it."

const withoutCode = (status: number): string =>
  status === 403
    ? `${inFront} Check whether a client certificate is required, whether the address of this machine is allowed, and whether ` +
      "the credentials belong to this environment."
    : `${inFront} Check that the address belongs to this environment and to the Auth version (V1 or V2) that the program uses.`

export const failedServer = (
  failure: { readonly status: number; readonly error?: string | undefined; readonly retryable: boolean }
): string =>
  byCode.get(failure.error) ??
    (failure.retryable ? temporary : failure.error === undefined ? withoutCode(failure.status) : wrongServer)

export const brokenRule = {
  Redirect: "a redirect, which is never followed",
  Status: "a status outside the contract",
  Size: "a body that is too large",
  Utf8: "a body that is not UTF-8",
  Json: "a body that is not JSON",
  Object: "a body that is not a JSON object",
  AccessToken: "access_token is missing or cannot be sent in a header",
  TokenType: "token_type is missing or is not Bearer",
  ExpiresIn: "expires_in is not a number of seconds",
  Scope: "scope is not a list of printable names",
  Expired: "the token had already expired when it arrived"
}

const seconds = (millis: number): string => `${Math.round(millis / 100) / 10} s`

/**
 * What a token that had expired on arrival means, if its request took so long that the server is not to blame. A server that hands out
 * a cached token responds at once.
 */
export const expiredMeanwhile = (lifetimeMillis: number, tookMillis: number): string | undefined =>
  tookMillis < Math.max(1_000, lifetimeMillis)
    ? undefined
    : `The token was valid for ${seconds(lifetimeMillis)}, but ${
      seconds(tookMillis)
    } passed after its request was sent: this process ` +
      "was stopped or starved, or the network is very slow. Check whether the process was suspended, and its limit for CPU time."

export const invalidResponse = (rule: keyof typeof brokenRule): string =>
  rule === "Expired"
    ? "The server probably hands out one cached token with its remaining lifetime. This ends when its cache expires."
    : "Check that the address belongs to the authorization server, and that no proxy or login page responds instead."

export const reason = {
  NameNotFound: "its host name does not resolve",
  NameServiceFailed: "DNS did not respond",
  Refused: "the connection was refused",
  Unreachable: "its host cannot be reached",
  Reset: "the connection was closed before a response arrived",
  Cut: "the connection broke off before the end of the response",
  Garbled: "the response is not HTTP",
  Tls: "the TLS handshake failed, so nothing was sent",
  Proxy: "a forward proxy did not let the request through",
  Timeout: "it took too long",
  Other: "the connection failed"
}

/** Which proxy failed, and how. */
export const proxy = (failure: { readonly proxy?: string | undefined; readonly proxyStatus?: number | undefined }) =>
  `the forward proxy ${failure.proxy === undefined ? "" : `${failure.proxy} `}${
    failure.proxyStatus === undefined ? "could not be reached" : `returned ${failure.proxyStatus}`
  }`

/** What to do when the server speaks another protocol. */
export const protocol = {
  NotTls: "The server did not respond with TLS. The port is probably for plain HTTP. Check the port in the address.",
  Http2Only:
    "The server speaks HTTP/2 only, and this program speaks HTTP/1.1. Check the port in the address, or enable HTTP/1.1 on the server."
}

/** What to do about a failure of the transport. `server` did not respond, and `address` is where its address is set. */
export const transport = (why: keyof typeof reason, server: string, address: string): string => {
  switch (why) {
    case "NameNotFound":
      return `Check the host name in ${address}, and DNS. If this network needs a forward proxy, check that the transport uses it.`
    case "NameServiceFailed":
      return `Check the DNS settings of this machine. ${temporary}`
    case "Refused":
      return `Check the host and the port in ${address}.`
    case "Unreachable":
      return "Check the network and its firewall rules."
    case "Garbled":
      return `Check ${address}, and the proxies and gateways between this machine and ${server}.`
    case "Tls":
      return `Check the certificate of ${server}, and the authorities that this program trusts.`
    case "Proxy":
      return "Check the proxy settings (HTTPS_PROXY), the proxy's credentials and its rules."
    case "Timeout":
      return `Check whether ${server} is slow, or whether a firewall drops the connection.`
    case "Other":
      return `Check the network between this machine and ${server}.`
    case "Reset":
      return `${temporary} If no request ever succeeds, check that ${server} accepts HTTP/1.1.`
    case "Cut":
      return temporary
  }
}
