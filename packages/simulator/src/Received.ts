/**
 * What the simulated servers received.
 *
 * @since 1.0.0
 */
import type * as HttpHeaders from "@effect/platform/Headers"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"

/**
 * The three servers of an environment: the authorization servers of V1 and V2, and the business API.
 *
 * @since 1.0.0
 * @category models
 */
export type Server = "AuthV1" | "AuthV2" | "Api"

/**
 * A request that a server received; safe to print.
 *
 * @since 1.0.0
 * @category models
 */
export interface Received {
  /** The server that received the request. */
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
