import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"

// What Effect 3 and Effect 4 do differently with the errors of an HttpClient.

/** The response of an error, if it has one. */
export const responseOf = (error: HttpClientError.HttpClientError): HttpClientResponse.HttpClientResponse | undefined =>
  error._tag === "ResponseError" ? error.response : undefined

/** What the platform says about the failure. */
export const descriptionOf = (error: HttpClientError.HttpClientError): string | undefined => error.description

/** The connection failed, in contrast to a request that could not be built. */
export const isTransportError = (error: HttpClientError.HttpClientError): boolean =>
  error._tag === "RequestError" && error.reason === "Transport"

/** What is different in a copy of an error. */
interface Changes {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly cause: unknown
  readonly description?: string
}

/** A copy of an error about a request that got no response. */
export const changedRequestError = (
  error: HttpClientError.HttpClientError,
  changes: Changes
): HttpClientError.RequestError =>
  new HttpClientError.RequestError({ reason: error._tag === "RequestError" ? error.reason : "Transport", ...changes })

/** A copy of an error about a response. */
export const changedResponseError = (
  error: HttpClientError.HttpClientError,
  response: HttpClientResponse.HttpClientResponse,
  changes: Changes
): HttpClientError.ResponseError =>
  new HttpClientError.ResponseError({
    reason: error._tag === "ResponseError" ? error.reason : "Decode",
    response,
    ...changes
  })

/** An error about a request that got no response. */
export const requestError = (
  reason: "Transport" | "Encode",
  fields: {
    readonly request: HttpClientRequest.HttpClientRequest
    readonly cause?: unknown
    readonly description: string
  }
): HttpClientError.RequestError => new HttpClientError.RequestError({ reason, ...fields })
