import type { AccessToken } from "@credit-data/core/AccessToken"
import { HttpError, Transport } from "@credit-data/core/Internal"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

// What a caller gets refers to the caller's own request. The request that was sent has the token in its headers, and a plain
// `console.log`, `JSON.stringify` or `util.inspect` of a response or an error shows its request.

/** The caller's request, and the token with which it was sent. Without one, it was sent with the caller's own header. */
interface Sent {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly token: AccessToken | undefined
}

/** The secrets of the request that was sent. An error can quote the caller's own header without its scheme. */
const secretsOf = ({ request, token }: Sent): ReadonlyArray<Redacted.Redacted> => {
  if (token !== undefined) return [token.secret]
  const own = request.headers["authorization"] ?? ""
  return [own, own.replace(/^\S+ +/, "")].map((text) => Redacted.make(text))
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

/** What a copy of an error has: the caller's request, and of a foreign cause only name, message and code. */
const changes = (sent: Sent, error: HttpClientError.HttpClientError) => {
  const secrets = secretsOf(sent)
  const shown = Transport.foreignError(HttpError.descriptionOf(error), secrets)
  const description = Predicate.isString(shown)
    ? shown
    : HttpError.requestReason(error) === "Transport"
    ? Transport.describe(error, api)
    : undefined
  return {
    request: sent.request,
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

const died = ({ request }: Sent): HttpClientError.RequestError =>
  HttpError.requestError("Transport", {
    request,
    description: "The HttpClient or transformClient threw an unexpected error"
  })

/** The caller's view of an error. An error about a response refers to the caller's view of it. */
const errorFor = (
  sent: Sent,
  error: HttpClientError.HttpClientError,
  body: HttpClientResponse.HttpClientResponse | undefined
): HttpClientError.HttpClientError => {
  // a client in JavaScript may fail with anything
  if (!HttpClientError.isHttpClientError(error)) return died(sent)
  const response = Transport.responseOf(error)
  return response === undefined
    ? HttpError.requestError(HttpError.requestReason(error) ?? "Transport", changes(sent, error))
    : changedResponseError(error, new CallerResponse(sent, response, body ?? response), sent)
}

/** The caller's view of what was received. Its body can come from another response, if it was read already. */
export const resultFor = (
  sent: Sent,
  exit: Exit.Exit<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>,
  body?: HttpClientResponse.HttpClientResponse
): Exit.Exit<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> => {
  if (Exit.isSuccess(exit)) return Exit.succeed(new CallerResponse(sent, exit.value, body ?? exit.value))
  const error = Option.getOrUndefined(Cause.failureOption(exit.cause))
  if (Transport.isStatusError(error)) return Exit.fail(errorFor(sent, error, body))
  // a defect of the transport can contain the request, so only its occurrence is reported
  return Cause.isDie(exit.cause) ? Exit.fail(died(sent)) : Exit.mapError(exit, (error) => errorFor(sent, error, body))
}
