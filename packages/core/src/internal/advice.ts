import type { brokenRule, Refusal } from "./failureText.ts"
import { printable } from "./printable.ts"
import { temporary, transportReasons } from "./transportReason.ts"

// What the engineer on call does about a failure.

/** The codes of OAuth are lower-case words without spaces. Gateways send names of statuses, such as `Forbidden`. */
const isOAuthError = ({ error }: Refusal): boolean => error !== undefined && !/[\sA-Z]/.test(error)

export const refusedClient =
  "Check that the client id and secret belong to this environment, and whether they are swapped. Ask the operator whether they were rotated."

const wrongServer =
  "Check that the address belongs to this environment and to the version of the token endpoint that you use."

/** The server's own words, which stand before, explain a code that has no advice here. */
const otherCode = "Ask the operator why the server refuses the request."

export const refusedAudience = (audience?: string): string =>
  `Check that the audience ${
    audience === undefined ? "" : `${printable(audience)} `
  }belongs to this environment, and that the client may request it.`

/** What to do about a code of OAuth (RFC 6749, section 5.2; RFC 8707, section 2). */
export const byCode: ReadonlyMap<string, string> = new Map([
  ["invalid_client", refusedClient],
  ["invalid_request", `The server does not accept a parameter. ${wrongServer} Check the audience and the scopes too.`],
  ["invalid_scope", "Request only scopes that the operator has granted to this client."],
  ["invalid_target", refusedAudience()],
  ["unauthorized_client", "Ask the operator to allow this client the client_credentials grant."],
  ["unsupported_grant_type", wrongServer]
])

const limited =
  "The server limits the rate of token requests. Check whether a layer or a connection is made for each call, and how many processes request " +
  "their own tokens."

const inFront =
  "The response is not an OAuth error: a gateway, firewall or proxy in front of the authorization server may have sent it."

/** What to do about an `InvalidClient`. */
export const refused = (failure: Refusal): string =>
  isOAuthError(failure) ? refusedClient : `${inFront} ${refusedClient}`

/** What to do about a `ServerError`. A failure that is retryable never gets the advice of its code. */
export const failedServer = (failure: Refusal & { readonly retryable: boolean }): string => {
  if (failure.endpointStatus === 429) return limited
  if (failure.retryable) return temporary
  if (isOAuthError(failure)) return byCode.get(failure.error ?? "") ?? otherCode
  if (failure.endpointStatus === 403) {
    return `${inFront} Check the path in the address, whether a client certificate is required, whether the address of this ` +
      "machine is allowed, and whether the credentials belong to this environment."
  }
  // a 400 is what nginx returns without a client certificate
  return `${inFront} ${wrongServer}${
    failure.endpointStatus === 400 ? " Check whether a client certificate is required." : ""
  }`
}

export const invalidResponse = (rule: keyof typeof brokenRule): string =>
  rule === "Expired"
    ? "The server probably hands out one cached token with its remaining lifetime. This resolves itself when the server's cache expires."
    : "Check that the address belongs to the authorization server, and whether a proxy or a login page responds instead."

/** What to do about a failure of the transport. `server` did not respond, and `address` is where its address is set. */
export const transport = (why: keyof typeof transportReasons, server: string, address: string): string =>
  transportReasons[why].todo.replaceAll("{server}", server).replaceAll("{address}", address)

/** What to do about a port that does not speak TLS. */
export const notTls =
  "The server did not respond with TLS. The port is probably for plain HTTP. Check the scheme and the port in the address."
