import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Stream from "effect/Stream"
import { died, isAnswered, requestError, responseError, type Sent } from "./callerError.ts"

/**
 * A response that refers to the request of the caller. The request that was sent has the token in its headers. Neither the
 * response nor the errors of reading its body give access to that request.
 */
class CallerResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly request: HttpClientRequest.HttpClientRequest
  readonly #sent: Sent
  readonly #response: HttpClientResponse.HttpClientResponse

  constructor(sent: Sent, response: HttpClientResponse.HttpClientResponse) {
    super()
    this.request = sent.request
    this.#sent = sent
    this.#response = response
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
    return this.#reading(this.#response.json)
  }

  get text() {
    return this.#reading(this.#response.text)
  }

  get urlParamsBody() {
    return this.#reading(this.#response.urlParamsBody)
  }

  get formData() {
    return this.#reading(this.#response.formData)
  }

  get arrayBuffer() {
    return this.#reading(this.#response.arrayBuffer)
  }

  get stream() {
    return Stream.mapError(this.#response.stream, (error) => this.#error(error))
  }

  toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, {
      _id: "@effect/platform/HttpClientResponse",
      request: this.request.toJSON(),
      status: this.status
    })
  }
}

/** Makes a response refer to the request of the caller. */
export const forCaller = (
  sent: Sent,
  response: HttpClientResponse.HttpClientResponse
): HttpClientResponse.HttpClientResponse => new CallerResponse(sent, response)

const errorForCaller = (sent: Sent) => (error: HttpClientError.HttpClientError): HttpClientError.HttpClientError => {
  if (!HttpClientError.isHttpClientError(error)) return died(sent)
  return isAnswered(error)
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
