import { HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"

interface Fields {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly cause?: unknown
  readonly description?: string
}

const requestErrors = {
  Transport: HttpClientError.TransportError,
  Encode: HttpClientError.EncodeError,
  InvalidUrl: HttpClientError.InvalidUrlError
}

const responseErrors = {
  StatusCode: HttpClientError.StatusCodeError,
  Decode: HttpClientError.DecodeError,
  EmptyBody: HttpClientError.EmptyBodyError
}

/** Makes the error of a request that got no response. */
export const requestError = (reason: keyof typeof requestErrors, fields: Fields): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({ reason: new requestErrors[reason](fields) })

/** Makes the error of a request that got a response. */
export const responseError = (
  reason: keyof typeof responseErrors,
  fields: Fields & { readonly response: HttpClientResponse.HttpClientResponse }
): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({ reason: new responseErrors[reason](fields) })

/** Whether an error belongs to a request without a response. */
export const isRequestError = (error: unknown): error is HttpClientError.HttpClientError =>
  HttpClientError.isHttpClientError(error) && error.response === undefined

/** Whether an error belongs to a request with a response. */
export const isResponseError = (
  error: unknown
): error is HttpClientError.HttpClientError & { readonly response: HttpClientResponse.HttpClientResponse } =>
  HttpClientError.isHttpClientError(error) && error.response !== undefined

/** The tag and the reason of an error, as text. */
export const kindOf = (error: unknown): string =>
  HttpClientError.isHttpClientError(error)
    ? `${error.response === undefined ? "RequestError" : "ResponseError"} ${error.reason._tag.slice(0, -5)}`
    : "no HttpClientError"
