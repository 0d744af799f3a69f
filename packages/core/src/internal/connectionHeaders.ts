import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { removeHeaders } from "./removeHeaders.ts"

/**
 * The headers that belong to one connection and not to the request (RFC 9110, section 7.6.1), and `host`. Over TLS, `host` also
 * chooses the server whose certificate is accepted, and with it who gets a secret or a token. Gateways forward such headers.
 */
const ofConnection = [
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
  "http2-settings"
]

/** `Connection` cannot name these, because they belong to the request: otherwise a caller could remove the token. */
const ofRequest: ReadonlySet<string> = new Set(["authorization", "content-length", "content-type"])

/** The value of `Connection` names headers that belong to the connection too. */
const namedBy = (connection: string | undefined): ReadonlyArray<string> =>
  (connection ?? "").toLowerCase().split(",").map((name) => name.trim())

/** A length that the caller has set without a body would make the server read the next request as a body. */
const hasLengthOnly = ({ body, headers }: HttpClientRequest.HttpClientRequest): boolean =>
  body._tag === "Empty" && "content-length" in headers

/** A request without the headers of the caller's own connection. An upgrade that the program requests remains. */
export const withoutConnectionHeaders = (
  request: HttpClientRequest.HttpClientRequest
): HttpClientRequest.HttpClientRequest => {
  const { headers } = request
  if (!hasLengthOnly(request) && !ofConnection.some((name) => name in headers)) return request
  const named = namedBy(headers["connection"])
  const { upgrade } = headers
  const others = removeHeaders(
    request,
    new Set([
      ...ofConnection,
      ...named.filter((name) => !ofRequest.has(name)),
      ...(hasLengthOnly(request) ? ["content-length"] : [])
    ])
  )
  return upgrade !== undefined && named.includes("upgrade")
    ? HttpClientRequest.setHeaders(others, { connection: "upgrade", upgrade })
    : others
}
