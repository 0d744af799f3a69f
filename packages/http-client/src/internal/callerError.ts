import type * as TokenError from "@credit-data/core/TokenError"
import { Transport } from "@credit-data/core/Internal"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type { InsufficientScope } from "../InsufficientScope.ts"
import { api, described, type Sent } from "./sent.ts"

// Rewrites transport errors: they refer to the caller's request, and not to the request with the token.

/** An error that has a response. */
type ErrorWithResponse = HttpClientError.ResponseError

export const hasResponse = (error: HttpClientError.HttpClientError): error is ErrorWithResponse =>
  error._tag === "ResponseError"

/** The connection failed, in contrast to a request that could not be built. */
export const isTransportError = (error: HttpClientError.HttpClientError): boolean =>
  error._tag === "RequestError" && error.reason === "Transport"

/** An error about a response. */
export const responseError = (
  sent: Sent,
  error: HttpClientError.ResponseError,
  response: HttpClientResponse.HttpClientResponse
): HttpClientError.ResponseError =>
  new HttpClientError.ResponseError({
    reason: error.reason,
    request: sent.request,
    response,
    cause: Transport.foreignError(error.cause, sent.secrets),
    ...described(sent, error.description)
  })

/** An error about a request that got no response. */
export const requestError = (sent: Sent, error: HttpClientError.RequestError): HttpClientError.RequestError =>
  new HttpClientError.RequestError({
    reason: error.reason,
    request: sent.request,
    cause: Transport.foreignError(error.cause, sent.secrets),
    ...described(
      sent,
      error.description,
      error.reason === "Transport" ? () => Transport.describe(error, api) : undefined
    )
  })

/** The error for a transport that died. It leaves out the defect, which can contain the request with the token. */
export const died = ({ request }: Sent): HttpClientError.RequestError =>
  new HttpClientError.RequestError({
    request,
    reason: "Transport",
    description: "The transport, or what transformClient adds to it, died"
  })

/** Turns a missing token into an error about the request. Its reason depends on whether a retry can help. */
export const withoutToken = (
  request: HttpClientRequest.HttpClientRequest,
  error: TokenError.TokenError | InsufficientScope
): HttpClientError.RequestError =>
  new HttpClientError.RequestError({
    request,
    reason: error._tag !== "InsufficientScope" && error.retryable ? "Transport" : "Encode",
    cause: error,
    description: error.message
  })
