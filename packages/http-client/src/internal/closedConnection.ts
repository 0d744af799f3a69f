import * as Transport from "@credit-data/core/Transport"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { canBeSentAgain } from "./body.ts"

/** Safe methods only: a PUT may not be as idempotent as its name. Any method is, when its caller says so by a key. */
const mayBeSentTwice = ({ body, headers, method }: HttpClientRequest.HttpClientRequest): boolean =>
  (method === "GET" || method === "HEAD" || method === "OPTIONS" || "idempotency-key" in headers) &&
  canBeSentAgain(body)

/**
 * Did a request most likely meet a connection that its server had closed while it was idle, and may it be sent again? Then no
 * part of an answer has come. Browsers and Go's `net/http` send such a request again, too.
 */
export const isClosedConnection = (
  error: unknown,
  request: HttpClientRequest.HttpClientRequest
): boolean =>
  HttpClientError.isHttpClientError(error) && error._tag === "RequestError" && error.reason === "Transport" &&
  mayBeSentTwice(request) &&
  Transport.reason(error) === "Reset"
