import { HttpClientError, type HttpClientResponse } from "@effect/platform"

/** Whether an error belongs to a request with a response. */
export const isResponseError = (
  error: unknown
): error is HttpClientError.HttpClientError & { readonly response: HttpClientResponse.HttpClientResponse } =>
  HttpClientError.isHttpClientError(error) && "response" in error && error.response !== undefined

/** Whether an error belongs to a request without a response. */
export const isRequestError = (error: unknown): error is HttpClientError.HttpClientError =>
  HttpClientError.isHttpClientError(error) && !isResponseError(error)

/** What an error belongs to, and its reason, with which its message begins. */
export const kindOf = (error: unknown): string =>
  HttpClientError.isHttpClientError(error)
    ? `${isResponseError(error) ? "ResponseError" : "RequestError"} ${/^\w+/.exec(error.message)?.[0]}`
    : "no HttpClientError"
