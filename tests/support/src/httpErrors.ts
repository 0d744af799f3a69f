import { HttpClientError, type HttpClientRequest, type HttpClientResponse } from "@effect/platform"

interface Fields {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly cause?: unknown
  readonly description?: string
}

/** Makes the error of a request that got no response. */
export const requestError = (
  reason: "Transport" | "Encode" | "InvalidUrl",
  fields: Fields
): HttpClientError.RequestError => new HttpClientError.RequestError({ reason, ...fields })

/** Makes the error of a request that got a response. */
export const responseError = (
  reason: "StatusCode" | "Decode" | "EmptyBody",
  fields: Fields & { readonly response: HttpClientResponse.HttpClientResponse }
): HttpClientError.ResponseError => new HttpClientError.ResponseError({ reason, ...fields })

/** Whether an error belongs to a request without a response. */
export const isRequestError = (error: unknown): error is HttpClientError.RequestError =>
  HttpClientError.isHttpClientError(error) && error._tag === "RequestError"

/** Whether an error belongs to a request with a response. */
export const isResponseError = (error: unknown): error is HttpClientError.ResponseError =>
  HttpClientError.isHttpClientError(error) && error._tag === "ResponseError"

/** The tag and the reason of an error, as text. */
export const kindOf = (error: unknown): string =>
  HttpClientError.isHttpClientError(error) ? `${error._tag} ${error.reason}` : "no HttpClientError"
