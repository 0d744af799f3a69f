import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"

// What Effect 3 and Effect 4 do differently with the errors of an HttpClient.

type RequestReason = "Transport" | "Encode" | "InvalidUrl"
type ResponseReason = "StatusCode" | "Decode" | "EmptyBody"

interface Fields {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly cause?: unknown
  readonly description?: string
}

/** An error about a request that got no response. */
export const requestError = (reason: RequestReason, fields: Fields): HttpClientError.RequestError =>
  new HttpClientError.RequestError({ reason, ...fields })

/** An error about a response. */
export const responseError = (
  reason: ResponseReason,
  fields: Fields & { readonly response: HttpClientResponse.HttpClientResponse }
): HttpClientError.ResponseError => new HttpClientError.ResponseError({ reason, ...fields })

/** Why a request got no response. */
export const requestReason = (error: HttpClientError.HttpClientError): RequestReason | undefined =>
  error._tag === "RequestError" ? error.reason : undefined

/** What is wrong with a response. */
export const responseReason = (error: HttpClientError.HttpClientError): ResponseReason | undefined =>
  error._tag === "ResponseError" ? error.reason : undefined

/** What the platform says about the failure. */
export const descriptionOf = (error: HttpClientError.HttpClientError): string | undefined => error.description
