/**
 * What the simulated servers received.
 *
 * @since 1.0.0
 */
import type * as HttpHeaders from "@effect/platform/Headers"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"

/**
 * The three servers of an environment: V1's authorization server, V2's, and the business API.
 *
 * @since 1.0.0
 * @category models
 */
export type Server = "AuthV1" | "AuthV2" | "Api"

/**
 * A request as it reached a server; safe to print.
 *
 * @since 1.0.0
 * @category models
 */
export interface Received {
  /** Which server it reached. */
  readonly server: Server
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** Its headers, without `Authorization`. */
  readonly headers: HttpHeaders.Headers
  /** Its `Authorization` header. */
  readonly authorization: Option.Option<Redacted.Redacted>
  /** Its body, byte for byte. */
  readonly body: Redacted.Redacted<Uint8Array>
}
