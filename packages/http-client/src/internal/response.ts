import type * as Headers from "@effect/platform/Headers"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Stream from "effect/Stream"
import { died, hasResponse, requestError, responseError } from "./callerError.ts"
import type { Sent } from "./sent.ts"

/**
 * A response that refers to the caller's request. The request that was sent has the token in its headers. Neither the
 * response nor the errors of reading its body give access to that request.
 */
class CallerResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly request: HttpClientRequest.HttpClientRequest
  readonly #sent: Sent
  readonly #response: HttpClientResponse.HttpClientResponse
  /** Has the body. This is another response if the body was read already. */
  readonly #body: HttpClientResponse.HttpClientResponse

  constructor(
    sent: Sent,
    response: HttpClientResponse.HttpClientResponse,
    body: HttpClientResponse.HttpClientResponse
  ) {
    super()
    this.request = sent.request
    this.#sent = sent
    this.#response = response
    this.#body = body
  }

  #reading<A>(body: Effect.Effect<A, HttpClientError.ResponseError>): Effect.Effect<A, HttpClientError.ResponseError> {
    return Effect.mapError(body, (error) => this.#error(error))
  }

  #error(error: HttpClientError.ResponseError): HttpClientError.ResponseError {
    return responseError(this.#sent, error, this)
  }

  get status() {
    return this.#response.status
  }

  get headers() {
    return this.#response.headers
  }

  get cookies() {
    return this.#response.cookies
  }

  get remoteAddress() {
    return this.#response.remoteAddress
  }

  get json() {
    return this.#reading(this.#body.json)
  }

  get text() {
    return this.#reading(this.#body.text)
  }

  get urlParamsBody() {
    return this.#reading(this.#body.urlParamsBody)
  }

  get formData() {
    return this.#reading(this.#body.formData)
  }

  get arrayBuffer() {
    return this.#reading(this.#body.arrayBuffer)
  }

  get stream() {
    return Stream.mapError(this.#body.stream, (error) => this.#error(error))
  }

  /** What is printed has no body, and only headers that describe it: an API may repeat the token in any other one. */
  toJSON(): unknown {
    return {
      _id: "@effect/platform/HttpClientResponse",
      request: this.request.toJSON(),
      status: this.status,
      headers: printable(this.headers)
    }
  }
}

const printedHeaders: ReadonlySet<string> = new Set([
  "cache-control",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "retry-after"
])

/** Values of ordinary length and characters. Of the other headers, only the names remain. */
const printable = (headers: Headers.Headers): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.slice(0, 64),
      printedHeaders.has(name) && /^[\w ,:;=/+*"-]{0,64}$/.test(value) ? value : "<redacted>"
    ])
  )

/** Makes a response refer to the caller's request. Its body can come from another response. */
export const forCaller = (
  sent: Sent,
  response: HttpClientResponse.HttpClientResponse,
  body = response
): HttpClientResponse.HttpClientResponse => new CallerResponse(sent, response, body)

const errorForCaller = (sent: Sent) => (error: HttpClientError.HttpClientError): HttpClientError.HttpClientError => {
  if (!HttpClientError.isHttpClientError(error)) return died(sent)
  return hasResponse(error)
    ? responseError(sent, error, forCaller(sent, error.response))
    : requestError(sent, error)
}

/**
 * The failure of a transport, without the token. A defect of the transport can contain the request, so the error then reports
 * only that the transport died.
 */
export const causeForCaller =
  (sent: Sent) => (cause: Cause.Cause<HttpClientError.HttpClientError>): Cause.Cause<HttpClientError.HttpClientError> =>
    Cause.isDie(cause) ? Cause.fail(died(sent)) : Cause.map(cause, errorForCaller(sent))
