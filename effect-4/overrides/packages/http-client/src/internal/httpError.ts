import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"

/** The response of an error, if it has one. */
export const responseOf = (error: HttpClientError.HttpClientError): HttpClientResponse.HttpClientResponse | undefined =>
  error.response

/** What the platform says about the failure. */
export const descriptionOf = ({ reason }: HttpClientError.HttpClientError): string | undefined => reason.description

/** The connection failed, in contrast to a request that could not be built. */
export const isTransportError = (error: HttpClientError.HttpClientError): boolean =>
  error.reason._tag === "TransportError"

interface Changes {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly cause: unknown
  readonly description?: string
}

const errors = {
  TransportError: HttpClientError.TransportError,
  EncodeError: HttpClientError.EncodeError,
  InvalidUrlError: HttpClientError.InvalidUrlError
}

const make = (reason: HttpClientError.HttpClientErrorReason) => new HttpClientError.HttpClientError({ reason })

/** A copy of an error about a request that got no response. */
export const changedRequestError = ({ reason }: HttpClientError.HttpClientError, changes: Changes) =>
  make(
    new errors[
      reason._tag === "EncodeError" || reason._tag === "InvalidUrlError" ? reason._tag : "TransportError"
    ](changes)
  )

/** A copy of an error about a response. */
export const changedResponseError = (
  { reason }: HttpClientError.HttpClientError,
  response: HttpClientResponse.HttpClientResponse,
  changes: Changes
) => {
  const fields = { ...changes, response }
  return make(
    reason._tag === "StatusCodeError"
      ? new HttpClientError.StatusCodeError(fields)
      : reason._tag === "EmptyBodyError"
      ? new HttpClientError.EmptyBodyError(fields)
      : new HttpClientError.DecodeError(fields)
  )
}

/** An error about a request that got no response. */
export const requestError = (
  reason: "Transport" | "Encode",
  fields: {
    readonly request: HttpClientRequest.HttpClientRequest
    readonly cause?: unknown
    readonly description: string
  }
) => make(new errors[`${reason}Error` as const](fields))
