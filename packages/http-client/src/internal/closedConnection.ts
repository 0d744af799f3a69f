import { Transport } from "@credit-data/core/Internal"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { canBeSentAgain } from "./body.ts"
import { isTransportError } from "./callerError.ts"

/** Only safe methods, because not every server handles a PUT idempotently; or any method with an `Idempotency-Key`. */
const mayBeSentTwice = ({ body, headers, method }: HttpClientRequest.HttpClientRequest): boolean =>
  (method === "GET" || method === "HEAD" || method === "OPTIONS" || "idempotency-key" in headers) &&
  canBeSentAgain(body)

/**
 * Whether the server most likely closed the idle connection before the request, and the request may be sent again. In this
 * case no part of a response has arrived. Browsers and Go's `net/http` also send such a request again.
 */
export const isClosedConnection = (
  error: unknown,
  request: HttpClientRequest.HttpClientRequest
): boolean =>
  HttpClientError.isHttpClientError(error) && isTransportError(error) &&
  mayBeSentTwice(request) &&
  Transport.reason(error) === "Reset"
