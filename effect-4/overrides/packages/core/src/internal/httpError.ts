import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"

type RequestReason = "Transport" | "Encode" | "InvalidUrl"
type ResponseReason = "StatusCode" | "Decode" | "EmptyBody"

interface Fields {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly cause?: unknown
  readonly description?: string
}

/** An error about a request that got no response. */
export const requestError = (reason: RequestReason, fields: Fields): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError[`${reason}Error` as const](fields) })

/** An error about a response. */
export const responseError = (
  reason: ResponseReason,
  fields: Fields & { readonly response: HttpClientResponse.HttpClientResponse }
): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError[`${reason}Error` as const](fields) })

/** Why a request got no response. */
export const requestReason = ({ reason }: HttpClientError.HttpClientError): RequestReason | undefined => {
  if (reason._tag === "EncodeError") return "Encode"
  if (reason._tag === "InvalidUrlError") return "InvalidUrl"
  return reason._tag === "TransportError" ? "Transport" : undefined
}

/** What is wrong with a response. */
export const responseReason = ({ reason }: HttpClientError.HttpClientError): ResponseReason | undefined => {
  if (reason._tag === "StatusCodeError") return "StatusCode"
  if (reason._tag === "EmptyBodyError") return "EmptyBody"
  return reason._tag === "DecodeError" ? "Decode" : undefined
}

/** What the platform says about the failure. */
export const descriptionOf = ({ reason }: HttpClientError.HttpClientError): string | undefined => reason.description
