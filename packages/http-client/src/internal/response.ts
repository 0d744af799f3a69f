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
 * A response to the request as its caller made it. The one that was sent, with the token in its headers, cannot be reached,
 * neither through the response nor through the errors of reading its body.
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

/** The response, as an answer to the request that its caller made. */
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
 * Why a transport failed, as its caller may see it. A transport that dies may do so with the request in its hands: then all
 * that is reported is that it did.
 */
export const causeForCaller =
  (sent: Sent) => (cause: Cause.Cause<HttpClientError.HttpClientError>): Cause.Cause<HttpClientError.HttpClientError> =>
    Cause.isDie(cause) ? Cause.fail(died(sent)) : Cause.map(cause, errorForCaller(sent))
