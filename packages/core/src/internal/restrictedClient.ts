import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { requestError } from "./httpError.ts"
import { region, silence } from "./silence.ts"

// The last step before the wire, for requests with a secret or a token.

/**
 * The headers that belong to one connection and not to the request (RFC 9110, section 7.6.1), and `host`. Over TLS, `host` also
 * chooses the server whose certificate is accepted, and with it who gets a secret or a token. Gateways forward such headers. Some
 * transports die of `trailer`, and others refuse `expect`.
 *
 * What `Connection` names remains, because the program may have added such a header itself: a caller must not remove it.
 */
const ofConnection = [
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
]

/** With a wrong length, a server would read a part of the body as the next request, or the next request as a part of the body. */
const hasForeignLength = ({ body, headers }: HttpClientRequest.HttpClientRequest): boolean =>
  "content-length" in headers &&
  headers["content-length"] !== String("contentLength" in body ? body.contentLength : undefined)

/** A request without the headers of the caller's own connection, and without a length that is not its body's. An upgrade remains. */
export const withoutConnectionHeaders = (
  request: HttpClientRequest.HttpClientRequest
): HttpClientRequest.HttpClientRequest => {
  const { connection = "", upgrade } = request.headers
  const names = ofConnection.filter((name) => name in request.headers)
  if (hasForeignLength(request)) names.push("content-length")
  if (names.length === 0) return request
  const isUpgrade = upgrade !== undefined && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection)
  // the platform has no function that removes a header; a body sets its own headers, which the request's must follow
  return HttpClientRequest.get(request.url).pipe(
    HttpClientRequest.modify({ ...request, hash: Option.getOrUndefined(request.hash), headers: {} }),
    HttpClientRequest.setHeaders(Object.entries(request.headers).filter(([name]) => !names.includes(name))),
    HttpClientRequest.setHeaders(isUpgrade ? { connection: "upgrade", upgrade } : {})
  )
}

const headerName = /^[\w!#$%&'*+.^`|~-]+$/
const unsendable = /[^\t\x20-\x7e\x80-\xff]/

/** The name of a header that HTTP cannot carry. The transports would die, or report it like a broken connection, which is retried. */
const unsendableHeader = ({ headers }: HttpClientRequest.HttpClientRequest): string | undefined => {
  for (const name in headers) {
    if (!headerName.test(name)) return name.replace(/[^\w-]/g, "?").slice(0, 64)
    if (unsendable.test(String(headers[name]))) return name
  }
  return undefined
}

/**
 * Ends the connection after an unrequested change of the protocol. No HttpClient does so: `node:http` hands over the socket.
 * Neither reading the body nor aborting the request closes that socket, and the process does not end while it is open.
 */
const endUpgraded = (response: unknown): void => {
  if (Predicate.hasProperty(response, "original")) return endUpgraded(response.original)
  const source = Predicate.hasProperty(response, "source") ? response.source : undefined
  if (Predicate.hasProperty(source, "destroy") && Predicate.isFunction(source.destroy)) source.destroy()
}

/** The stream of a body is an effect of the caller, so it gets the caller's options of `fetch`. */
const withOptionsOf = (
  caller: Context.Context<never>,
  { contentLength, contentType, stream }: HttpBody.Stream
): HttpBody.Stream => {
  const init = Option.getOrElse(Context.getOption(caller, FetchHttpClient.RequestInit), () => ({}))
  const provided = Stream.provideContext(stream, Context.add(caller, FetchHttpClient.RequestInit, init))
  return HttpBody.stream(provided, contentType, contentLength)
}

/**
 * A client that is safe for requests with a secret or a token:
 *
 * - It sends requests to the allowed URLs only. Other requests fail with a `RequestError` (`InvalidUrl`).
 * - It returns redirects and never follows them. `fetch` would follow a 307 and send the body to the new address.
 * - It leaves out the platform's own span and trace headers: the span would record the query, and trace headers would go to a
 *   third party.
 * - It drops `host`, the headers of the caller's own connection (RFC 9110, section 7.6.1), and a `content-length` that is not the
 *   body's. An upgrade remains.
 * - It refuses a header that cannot be sent, with a `RequestError` (`Encode`) that names the header.
 * - It closes the connection after an unrequested `101 Switching Protocols`.
 *
 * All of this happens in the last step before the request is sent, after everything that the platform's combinators have
 * added to the given client (`mapRequest` and so on). Combinators that are added to the result cannot undo it. What the given client
 * does with a request after that step is not checked: a client that was made with `HttpClient.makeWith` may send it anywhere, and
 * `HttpClient.followRedirects` below this client follows redirects.
 */
export const restrictedClient = (client: HttpClient.HttpClient, { isAllowed, onSend }: {
  /** May a request be sent to this URL? */
  readonly isAllowed: (url: string) => boolean
  /** Receives the request as it is sent. Default: does nothing. */
  readonly onSend?: ((request: HttpClientRequest.HttpClientRequest) => Effect.Effect<void>) | undefined
}): HttpClient.HttpClient => {
  const silent = silence(({ url }) => isAllowed(url))
  const checked = HttpClient.mapRequestEffect(client, (request) => {
    if (!isAllowed(request.url)) {
      const description = "The URL is not an allowed address for a secret or a token, so nothing was sent. " +
        "Check the base URL, and clients that rewrite URLs"
      return Effect.fail(requestError("InvalidUrl", { request, description }))
    }
    const sent = withoutConnectionHeaders(request)
    const header = unsendableHeader(sent)
    if (header === undefined) {
      return Effect.as(onSend === undefined ? silent : Effect.zipRight(silent, onSend(sent)), sent)
    }
    const description =
      `The header ${header} has a character that cannot be sent in a header, so nothing was sent. Encode or remove it`
    return Effect.fail(requestError("Encode", { request, description }))
  })
  const send = (request: HttpClientRequest.HttpClientRequest) =>
    Effect.map(region(checked.execute(request)), (response) => {
      if (response.status === 101 && !("upgrade" in request.headers)) endUpgraded(response)
      return response
    })
  return opaque((request) => {
    const { body } = request
    if (body._tag !== "Stream") return send(request)
    return Effect.flatMap(
      Effect.context<never>(),
      (caller) => send(HttpClientRequest.setBody(request, withOptionsOf(caller, body)))
    )
  })
}

/**
 * A client whose steps cannot be reordered from outside. Combinators that wrap it see only the request and the response.
 */
export const opaque = <E>(
  execute: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, E>
): HttpClient.HttpClient.With<E> => HttpClient.makeWith<never, never, E, never>(Effect.flatMap(execute), Effect.succeed)
