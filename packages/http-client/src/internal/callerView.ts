import { HttpError, Transport } from "@credit-data/core/Internal"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

// What a caller gets refers to the caller's own request. The request that was sent has the token in its headers, and a plain
// `console.log`, `JSON.stringify` or `util.inspect` of a response or an error shows its request.

/** The caller's request, and the secrets of the request that was sent for it. */
export interface Sent {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** The name of the server in errors, and the variable with its address. */
const api = { name: "the API", address: "CREDIT_DATA_BASE_URL" }

/** A response that refers to the caller's request. Reading its body fails with errors that do so too. */
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
    return changedResponseError(error, this, this.#sent)
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

  /** What is printed has no body, and only the names of the headers: an API may repeat the token in any of them. */
  toJSON(): unknown {
    return {
      _id: "@effect/platform/HttpClientResponse",
      request: this.request.toJSON(),
      status: this.status,
      headers: Object.keys(this.headers)
    }
  }
}

/** The caller's view of a response. Its body can come from another response. */
export const responseFor = (
  sent: Sent,
  response: HttpClientResponse.HttpClientResponse,
  body = response
): HttpClientResponse.HttpClientResponse => new CallerResponse(sent, response, body)

/** What a copy of an error has: the caller's request, and of a foreign cause only name, message and code. */
const changes = ({ request, secrets }: Sent, error: HttpClientError.HttpClientError) => {
  const shown = Transport.foreignError(HttpError.descriptionOf(error), secrets)
  const description = Predicate.isString(shown)
    ? shown
    : HttpError.requestReason(error) === "Transport"
    ? Transport.describe(error, api)
    : undefined
  return {
    request,
    cause: Transport.foreignError(error.cause, secrets),
    ...(description === undefined ? {} : { description })
  }
}

const changedResponseError = (
  error: HttpClientError.HttpClientError,
  response: HttpClientResponse.HttpClientResponse,
  sent: Sent
): HttpClientError.ResponseError =>
  HttpError.responseError(HttpError.responseReason(error) ?? "Decode", { response, ...changes(sent, error) })

/** The caller's view of an error. An error about a response can refer to another view of that response. */
export const errorFor = (
  sent: Sent,
  error: HttpClientError.HttpClientError,
  view?: HttpClientResponse.HttpClientResponse
): HttpClientError.HttpClientError => {
  // a client in JavaScript may fail with anything
  if (!HttpClientError.isHttpClientError(error)) return died(sent)
  const response = Transport.responseOf(error)
  return response === undefined
    ? HttpError.requestError(HttpError.requestReason(error) ?? "Transport", changes(sent, error))
    : changedResponseError(error, view ?? responseFor(sent, response), sent)
}

const died = ({ request }: Sent): HttpClientError.RequestError =>
  HttpError.requestError("Transport", {
    request,
    description: "The HttpClient or transformClient threw an unexpected error"
  })

/** The caller's view of a failure. A defect of the transport can contain the request, so only its occurrence is reported. */
export const causeFor = (
  sent: Sent,
  cause: Cause.Cause<HttpClientError.HttpClientError>
): Cause.Cause<HttpClientError.HttpClientError> =>
  Cause.isDie(cause) ? Cause.fail(died(sent)) : Cause.map(cause, (error) => errorFor(sent, error))
