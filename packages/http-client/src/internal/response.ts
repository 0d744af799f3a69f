import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Stream from "effect/Stream"

/**
 * A response to the request as its caller made it. The one that was sent, with the token in its headers, is reached by
 * nobody: neither through the response nor through the errors of reading its body.
 */
class CallerResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpClientResponse.TypeId]: HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly request: HttpClientRequest.HttpClientRequest
  readonly #sent: HttpClientResponse.HttpClientResponse

  constructor(request: HttpClientRequest.HttpClientRequest, sent: HttpClientResponse.HttpClientResponse) {
    super()
    this.request = request
    this.#sent = sent
  }

  #reading<A>(body: Effect.Effect<A, HttpClientError.ResponseError>): Effect.Effect<A, HttpClientError.ResponseError> {
    return Effect.mapError(body, (error) => this.#error(error))
  }

  #error(error: HttpClientError.ResponseError): HttpClientError.ResponseError {
    return new HttpClientError.ResponseError({ ...error, cause: error.cause, request: this.request, response: this })
  }

  get status() {
    return this.#sent.status
  }

  get headers() {
    return this.#sent.headers
  }

  get cookies() {
    return this.#sent.cookies
  }

  get remoteAddress() {
    return this.#sent.remoteAddress
  }

  get json() {
    return this.#reading(this.#sent.json)
  }

  get text() {
    return this.#reading(this.#sent.text)
  }

  get urlParamsBody() {
    return this.#reading(this.#sent.urlParamsBody)
  }

  get formData() {
    return this.#reading(this.#sent.formData)
  }

  get arrayBuffer() {
    return this.#reading(this.#sent.arrayBuffer)
  }

  get stream() {
    return Stream.mapError(this.#sent.stream, (error) => this.#error(error))
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
  request: HttpClientRequest.HttpClientRequest,
  sent: HttpClientResponse.HttpClientResponse
): HttpClientResponse.HttpClientResponse => new CallerResponse(request, sent)

/** The transport's error, as one about the request that its caller made, and so is what it says it was caused by. */
const errorForCaller =
  (request: HttpClientRequest.HttpClientRequest) =>
  (error: HttpClientError.HttpClientError): HttpClientError.HttpClientError =>
    error._tag === "RequestError"
      ? new HttpClientError.RequestError({ ...error, cause: causeOf(request, error), request })
      : new HttpClientError.ResponseError({
        ...error,
        cause: causeOf(request, error),
        request,
        response: forCaller(request, error.response)
      })

const causeOf = (request: HttpClientRequest.HttpClientRequest, { cause }: HttpClientError.HttpClientError): unknown =>
  HttpClientError.isHttpClientError(cause) ? errorForCaller(request)(cause) : cause

/**
 * Why a transport failed, as its caller may see it. A transport that dies may do so with the request in its hands: then no
 * more is told than that it did.
 */
export const causeForCaller =
  (request: HttpClientRequest.HttpClientRequest) =>
  (cause: Cause.Cause<HttpClientError.HttpClientError>): Cause.Cause<HttpClientError.HttpClientError> =>
    Cause.isDie(cause)
      ? Cause.fail(
        new HttpClientError.RequestError({
          request,
          reason: "Transport",
          description: "The transport, or what transformClient adds to it, died"
        })
      )
      : Cause.map(cause, errorForCaller(request))
