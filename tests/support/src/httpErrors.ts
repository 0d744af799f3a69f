import { HttpClientError, type HttpClientRequest, type HttpClientResponse } from "@effect/platform"

interface Fields {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly cause?: unknown
  readonly description?: string
}

/** The failure of a request that got no response. */
export const requestError = (
  reason: "Transport" | "Encode" | "InvalidUrl",
  fields: Fields
): HttpClientError.RequestError => new HttpClientError.RequestError({ reason, ...fields })

/** The failure of a request that got a response. */
export const responseError = (
  reason: "StatusCode" | "Decode" | "EmptyBody",
  fields: Fields & { readonly response: HttpClientResponse.HttpClientResponse }
): HttpClientError.ResponseError => new HttpClientError.ResponseError({ reason, ...fields })

/** A failure of a request that got no response. */
export const isRequestError = (error: unknown): error is HttpClientError.RequestError =>
  HttpClientError.isHttpClientError(error) && error._tag === "RequestError"

/** A failure of a request that got a response. */
export const isResponseError = (error: unknown): error is HttpClientError.ResponseError =>
  HttpClientError.isHttpClientError(error) && error._tag === "ResponseError"

/** The kind and the reason of a failure, in one word each. */
export const kindOf = (error: unknown): string =>
  HttpClientError.isHttpClientError(error) ? `${error._tag} ${error.reason}` : "no HttpClientError"
