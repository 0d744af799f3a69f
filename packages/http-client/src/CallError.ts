/**
 * The error of a call through a `fetch` that got no complete response.
 *
 * @since 1.0.0
 */
import type { TransportReason } from "@credit-data/core/TokenError"
import * as Data from "effect/Data"

/**
 * A call through a `fetch` that got no complete response, or that was not sent. Its message shows no values of the path, of headers or of the
 * body.
 *
 * @since 1.0.0
 * @category errors
 */
export class CallError extends Data.TaggedError("CallError")<{
  /** What happened, and what to do. */
  readonly message: string
  /**
   * Why there is no complete response. After `InvalidUrl` (a refused URL or value of a path) and `Encode` (a method, header or body that cannot
   * be sent), nothing was sent. `Closed`: the scope has closed.
   */
  readonly reason: TransportReason | "InvalidUrl" | "Encode"
  /** Whether a later attempt can succeed. */
  readonly retryable: boolean
  /** Of the underlying error, name, message and code. */
  readonly cause?: unknown
}> {}
