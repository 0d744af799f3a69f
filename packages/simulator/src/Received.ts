/**
 * What the simulated servers received, and what they responded.
 *
 * @since 1.0.0
 */
import type * as HttpHeaders from "@effect/platform/Headers"
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Fault from "./Fault.ts"

/**
 * The three servers of an environment: the authorization servers of V1 and V2, and the business API.
 *
 * @since 1.0.0
 * @category models
 */
export type Server = "AuthV1" | "AuthV2" | "Api"

/**
 * What became of a request.
 *
 * - `Pending`: it has no response yet.
 * - `Responded`: it got this response after this time, excluding time added by `advanceClock`. `error` is the OAuth error code in
 *   the response. The headers and the body are `Redacted`, because a fault or a handler can return anything. The body is kept like
 *   the body of a request; a streamed body is known when the stream has ended.
 * - `NoResponse`: its connection was closed after this time. A fault such as `Bytes` may have written to it.
 *
 * @since 1.0.0
 * @category models
 */
export type Outcome = Data.TaggedEnum<{
  Pending: {}
  Responded: {
    readonly status: number
    readonly error: Option.Option<string>
    readonly headers: Redacted.Redacted<HttpHeaders.Headers>
    readonly body: Redacted.Redacted<Uint8Array>
    /** The size of its whole body, in bytes. */
    readonly bodySize: number
    readonly duration: Duration.Duration
  }
  NoResponse: { readonly duration: Duration.Duration }
}>

/**
 * Constructors of the outcomes, with `$is` and `$match`.
 *
 * @since 1.0.0
 * @category constructors
 */
export const { $is, $match, Responded, Pending, NoResponse } = Data.taggedEnum<Outcome>()

/**
 * A request that a server received. The `Authorization` header and the body are `Redacted`. The URL and the other headers are as
 * they were sent, so `mask` them before you show them.
 *
 * @since 1.0.0
 * @category models
 */
export interface Received {
  /** 1 for the first request to the simulator. Later requests have higher numbers, even after a reset. */
  readonly id: number
  /** The server that received the request. */
  readonly server: Server
  /** Its place among the token requests, or among the calls, since the start or the last reset. The first is 1. */
  readonly ordinal: number
  /** When the server received it, by the clock of the simulator. */
  readonly receivedAt: DateTime.Utc
  /** Its method. */
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** Its headers, without `Authorization`. */
  readonly headers: HttpHeaders.Headers
  /** Its `Authorization` header. */
  readonly authorization: Option.Option<Redacted.Redacted>
  /** The id of the issued token that it carried, even a revoked one. */
  readonly token: Option.Option<number>
  /** The id of the token that its response issued. */
  readonly issuedToken: Option.Option<number>
  /**
   * Its body: all of it in `handleCalls`, and the first 64 KiB in `received`. If all bodies together take too much memory, the
   * oldest are removed.
   */
  readonly body: Redacted.Redacted<Uint8Array>
  /** The size of its whole body, in bytes. */
  readonly bodySize: number
  /** The tag of the fault that was applied to it, such as `Delay`. */
  readonly fault: Option.Option<Fault.Fault["_tag"]>
  /** What became of it: `Pending`, `Responded` or `NoResponse`. */
  readonly outcome: Outcome
}
