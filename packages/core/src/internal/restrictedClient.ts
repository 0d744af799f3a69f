import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as HttpMethod from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import { requestError } from "./httpError.ts"
import { printable } from "./printable.ts"
import { region, withoutRedirectsOrSpans } from "./requestSettings.ts"
import { version } from "./version.ts"

// The last step before the wire, for requests with a secret or a token.

/**
 * The headers that belong to one connection and not to the request (RFC 9110, section 7.6.1), and `host`. Over TLS, `host` also
 * chooses the server whose certificate is accepted, and with it who gets a secret or a token.
 *
 * What `Connection` names remains, because the program may have added such a header itself: a caller must not remove it.
 */
export const connectionHeaders: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "expect",
  "transfer-encoding",
  "upgrade",
  "http2-settings"
])

/** Sends a request. */
export type Send = (
  request: HttpClientRequest.HttpClientRequest
) => Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

/** Some gateways refuse requests without a `User-Agent`. */
export const userAgent = `credit-data/${version}`

/** The length of a body, if it is known before the body is read. */
export const lengthOf = (body: HttpBody.HttpBody): number | undefined => {
  const length = "contentLength" in body ? body.contentLength : undefined
  return length !== undefined && Number.isSafeInteger(length) && length >= 0 ? length : undefined
}

/** Whether `node:http` would send the body without a length and not in chunks, as it does with methods that usually have no body. */
const isUnframed = ({ body, method }: HttpClientRequest.HttpClientRequest): boolean =>
  body._tag !== "Empty" && lengthOf(body) === undefined && /^(DELETE|GET|HEAD|OPTIONS)$/.test(method)

const headerName = /^[\w!#$%&'*+.^`|~-]+$/
const unsendable = /[^\t\x20-\x7e\x80-\xff]/

/** The printable name of a header that HTTP cannot carry, or undefined for any other header. */
export const unsendableHeader = (name: string, value: string): string | undefined =>
  !headerName.test(name) ? name.replace(/[^\w-]/g, "?").slice(0, 64) : unsendable.test(value) ? name : undefined

const methods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])

/** The methods of Effect 3. Effect 4 also has TRACE, which no `fetch` sends, and QUERY. */
export const isMethod = (method: string): method is HttpMethod.HttpMethod => methods.has(method)

/** Why nothing was sent. The clients of this project and their `fetch`s say it alike. */
export const refusals = {
  header: (name: string): string =>
    `The header ${name} has a character that cannot be sent in a header, so nothing was sent. Encode or remove it`,
  method: (method: string): string =>
    `The method ${printable(method)} is unknown, so nothing was sent. ` +
    "Methods are case-sensitive: use GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS",
  unframed: (method: string): string =>
    `The body of a ${method} needs a length, so nothing was sent. ` +
    "Set the contentLength of its stream, or send text or bytes"
}

/**
 * The request as it is sent: without the headers of the caller's own connection, with the length of its body, and with a `User-Agent`; or
 * the name of a header that HTTP cannot carry. With such a header, transports would die, or report it like a broken connection, which is
 * retried.
 */
const asSent = (
  request: HttpClientRequest.HttpClientRequest
): Either.Either<HttpClientRequest.HttpClientRequest, string> => {
  const { headers } = request
  const length = lengthOf(request.body)
  const dropped: Array<string> = []
  for (const name in headers) {
    if (connectionHeaders.has(name) || (name === "content-length" && length === undefined)) {
      dropped.push(name)
      continue
    }
    const refused = unsendableHeader(name, String(headers[name]))
    if (refused !== undefined) return Either.left(refused)
  }
  let sent = request
  if (dropped.length > 0) {
    // the platform has no function that removes a header; a body sets its own headers, which the request's must follow
    sent = HttpClientRequest.get(request.url).pipe(
      HttpClientRequest.modify({ ...request, hash: Option.getOrUndefined(request.hash), headers: {} }),
      HttpClientRequest.setHeaders(Object.entries(headers).filter(([name]) => !dropped.includes(name)))
    )
  }
  if (length !== undefined && headers["content-length"] !== String(length)) {
    sent = HttpClientRequest.setHeader(sent, "content-length", String(length))
  }
  return Either.right("user-agent" in headers ? sent : HttpClientRequest.setHeader(sent, "user-agent", userAgent))
}

/**
 * A client that is safe for requests with a secret or a token:
 *
 * - It sends requests to the allowed URLs only. Other requests fail with a `RequestError` (`InvalidUrl`).
 * - It returns redirects and never follows them.
 * - It leaves out the platform's own span and trace headers.
 * - It drops `host` and the headers of the caller's own connection (RFC 9110, section 7.6.1).
 * - It refuses a method that the platform does not have, such as one in lower case, with a `RequestError` (`Encode`).
 * - It sets the length of a body. A `DELETE`, `GET`, `HEAD` or `OPTIONS` with a body of unknown length fails with a `RequestError`
 *   (`Encode`).
 * - It adds the `User-Agent` of this project, unless the request has one.
 * - It refuses a header that cannot be sent, with a `RequestError` (`Encode`) that names the header.
 *
 * All of this happens in the last step before the request is sent, after everything that the platform's combinators have added to the
 * given client (`mapRequest` and so on). Combinators that are added to the result cannot undo it. What the given client does with a
 * request after that step is not checked: a client that was made with `HttpClient.makeWith` may send it anywhere, and
 * `HttpClient.followRedirects` below this client follows redirects.
 */
export const restrictedClient = (client: HttpClient.HttpClient, { framed = identity, isAllowed }: {
  /** May a request be sent to this URL? */
  readonly isAllowed: (url: string) => boolean
  /** Prepares the body of a request. */
  readonly framed?: ((send: Send) => Send) | undefined
}): HttpClient.HttpClient => {
  // This rests on two habits of Effect, which transport.test.ts tests: the transformation that was added last runs last, and redirects
  // and tracing are read from the fiber that sends.
  const settings = withoutRedirectsOrSpans(({ url }) => isAllowed(url))
  const checked = HttpClient.mapRequestEffect(client, (request) => {
    if (!isAllowed(request.url)) {
      const description = "The URL is not an allowed address for a secret or a token, so nothing was sent. " +
        "Check the base URL, and clients that rewrite URLs"
      return Effect.fail(requestError("InvalidUrl", { request, description }))
    }
    if (isUnframed(request)) {
      return Effect.fail(requestError("Encode", { request, description: refusals.unframed(request.method) }))
    }
    return Either.match(asSent(request), {
      onLeft: (header) => Effect.fail(requestError("Encode", { request, description: refusals.header(header) })),
      onRight: (sent) => Effect.as(settings, sent)
    })
  })
  const send = framed((request) => region(checked.execute(request)))
  return opaque((request) =>
    // Node sends every method in upper case, but the check of the body compares it as it was given
    isMethod(request.method)
      ? send(request)
      : Effect.fail(requestError("Encode", { request, description: refusals.method(request.method) }))
  )
}

/**
 * A client whose steps cannot be reordered from outside. Combinators that wrap it see only the request and the response.
 */
export const opaque = <E>(
  execute: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, E>
): HttpClient.HttpClient.With<E> => HttpClient.makeWith<never, never, E, never>(Effect.flatMap(execute), Effect.succeed)
