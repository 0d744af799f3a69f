/**
 * What calls and `connect` reject with, and what to do about it.
 *
 * @since 1.0.0
 */
import { HttpError } from "@credit-data/core/Internal"
import * as TokenError from "@credit-data/core/TokenError"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as Predicate from "effect/Predicate"

export {
  /**
   * The token does not cover the scope of the endpoint group.
   *
   * @since 1.0.0
   * @category errors
   */
  InsufficientScope
} from "@credit-data/http-client/InsufficientScope"

export {
  /**
   * The token endpoint refused the client. A retry with the same credentials cannot succeed.
   *
   * @since 1.0.0
   * @category errors
   */
  InvalidClient,
  /**
   * The token endpoint's response is outside the contract.
   *
   * @since 1.0.0
   * @category errors
   */
  InvalidResponse,
  /**
   * Returns whether a value is a failure of a token request: `InvalidClient`, `ServerError`, `InvalidResponse` or `TransportError`.
   *
   * @since 1.0.0
   * @category guards
   */
  isTokenError,
  /**
   * The token endpoint returned a failure that is not about the client.
   *
   * @since 1.0.0
   * @category errors
   */
  ServerError,
  /**
   * A failure of a token request.
   *
   * @since 1.0.0
   * @category errors
   */
  type TokenError,
  /**
   * The token endpoint returned no complete response.
   *
   * @since 1.0.0
   * @category errors
   */
  TransportError
} from "@credit-data/core/TokenError"

/**
 * The configuration is wrong. The message has a line for each faulty variable, and never shows a value.
 *
 * @since 1.0.0
 * @category errors
 */
export class ConfigError extends Error {
  /**
   * @since 1.0.0
   */
  override readonly name = "ConfigError"
}

/** Undefined for what neither a call nor a signal rejects with. */
const isRetryableItself = (error: unknown): boolean | undefined => {
  if (TokenError.isTokenError(error)) return error.retryable
  if (error instanceof DOMException) return error.name === "TimeoutError"
  if (!HttpClientError.isHttpClientError(error)) return undefined
  return HttpError.requestReason(error) === "Transport" || HttpError.responseReason(error) === "Decode"
}

/**
 * Returns whether a later attempt can succeed: after a `retryable` failure of a token request, after a call without a complete response,
 * and after the time of `AbortSignal.timeout`. Of the error of a library over a `fetch`, such as axios, the cause counts. It chooses the status for your own callers, such as 503 instead of 500.
 *
 * @since 1.0.0
 * @category guards
 * @example
 * ```ts
 * import { isRetryable } from "@credit-data/promise"
 *
 * export const statusOf = (error: unknown) => isRetryable(error) ? 503 : 500
 * ```
 */
export const isRetryable = (error: unknown): boolean =>
  isRetryableItself(error) ?? (Predicate.hasProperty(error, "cause") && isRetryableItself(error.cause) === true)
