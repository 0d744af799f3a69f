import type * as TokenError from "@credit-data/core/TokenError"
import { Transport } from "@credit-data/core/Internal"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { InsufficientScope } from "../InsufficientScope.ts"
import { api, described, type Sent } from "./sent.ts"

// Rewrites transport errors: they refer to the caller's request, and not to the request with the token.

/** An error that has a response. */
type ErrorWithResponse = HttpClientError.HttpClientError & { readonly response: HttpClientResponse.HttpClientResponse }

export const hasResponse = (error: HttpClientError.HttpClientError): error is ErrorWithResponse =>
  error.response !== undefined

/** The connection failed, in contrast to a request that could not be built. */
export const isTransportError = (error: HttpClientError.HttpClientError): boolean =>
  error.reason._tag === "TransportError"

const httpClientError = (reason: HttpClientError.HttpClientErrorReason) =>
  new HttpClientError.HttpClientError({ reason })

/** What a reason for the caller has, apart from the response. */
const fields = (sent: Sent, { reason }: HttpClientError.HttpClientError, ours?: () => string) => ({
  request: sent.request,
  cause: Transport.foreignError(reason.cause, sent.secrets),
  ...described(sent, reason.description, ours)
})

/** An error about a response. */
export const responseError = (
  sent: Sent,
  error: HttpClientError.HttpClientError,
  response: HttpClientResponse.HttpClientResponse
): HttpClientError.HttpClientError => {
  const reason = { ...fields(sent, error), response }
  switch (error.reason._tag) {
    case "StatusCodeError":
      return httpClientError(new HttpClientError.StatusCodeError(reason))
    case "EmptyBodyError":
      return httpClientError(new HttpClientError.EmptyBodyError(reason))
    default:
      return httpClientError(new HttpClientError.DecodeError(reason))
  }
}

/** An error about a request that got no response. */
export const requestError = (sent: Sent, error: HttpClientError.HttpClientError): HttpClientError.HttpClientError => {
  switch (error.reason._tag) {
    case "EncodeError":
      return httpClientError(new HttpClientError.EncodeError(fields(sent, error)))
    case "InvalidUrlError":
      return httpClientError(new HttpClientError.InvalidUrlError(fields(sent, error)))
    default:
      return httpClientError(
        new HttpClientError.TransportError(fields(sent, error, () => Transport.describe(error, api)))
      )
  }
}

/** The error for a transport that died. It leaves out the defect, which can contain the request with the token. */
export const died = ({ request }: Sent): HttpClientError.HttpClientError =>
  httpClientError(
    new HttpClientError.TransportError({
      request,
      description: "The transport, or what transformClient adds to it, died"
    })
  )

/** Turns a missing token into an error about the request. Its reason depends on whether a retry can help. */
export const withoutToken = (
  request: HttpClientRequest.HttpClientRequest,
  error: TokenError.TokenError | InsufficientScope
): HttpClientError.HttpClientError => {
  const reason = { request, cause: error, description: error.message }
  return httpClientError(
    error._tag !== "InsufficientScope" && error.retryable
      ? new HttpClientError.TransportError(reason)
      : new HttpClientError.EncodeError(reason)
  )
}
