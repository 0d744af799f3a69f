/**
 * What a simulated server does instead of responding as the contract specifies.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"

/**
 * A fault, as data.
 *
 * - `Response`: responds with this status, these headers and this body, whatever the request is.
 * - `Delay`: gives the usual response after this time of the Effect Clock.
 * - `Silence`: never responds.
 * - `Reset`: resets the connection.
 * - `Bytes`: writes these bytes directly to the connection, without HTTP, and then ends or resets the connection, or leaves it
 *   open.
 * - `Drip`: writes these bytes one at a time, at this interval of the Effect Clock, and leaves the connection open.
 * - `Endless`: writes these bytes, and then spaces without end, as fast as the client reads.
 *
 * @since 1.0.0
 * @category models
 */
export type Fault = Data.TaggedEnum<{
  Response: {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>> | undefined
    readonly body?: string | Uint8Array | undefined
  }
  Delay: { readonly duration: Duration.DurationInput }
  Silence: {}
  Reset: {}
  Bytes: { readonly bytes: string | Uint8Array; readonly ending: "End" | "Reset" | "Hang" }
  Drip: { readonly bytes: string | Uint8Array; readonly every: Duration.DurationInput }
  Endless: { readonly bytes: string | Uint8Array }
}>

/**
 * Constructors of the faults, with `$is` and `$match`.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { Fault, Simulator } from "@credit-data/simulator"
 * import { Effect } from "effect"
 *
 * export const twoFailures = Effect.flatMap(Simulator.Simulator, (simulator) =>
 *   simulator.failTokenRequests(Fault.Response({ status: 503, headers: { "retry-after": "2" } }), { times: 2 }))
 * ```
 */
export const { $is, $match, Response, Bytes, Delay, Drip, Endless, Reset, Silence } = Data.taggedEnum<Fault>()

/**
 * The requests that a fault applies to: those to the token endpoints, or the calls of the business API.
 *
 * @since 1.0.0
 * @category models
 */
export type Target = "TokenRequests" | "Calls"

/**
 * Which requests to its target a fault applies to. By default, to all.
 *
 * @since 1.0.0
 * @category models
 */
export interface Selection {
  /** The method of a request. */
  readonly method?: string | undefined
  /** A path without a query. A segment in braces, such as `{id}`, stands for any one segment. */
  readonly path?: string | undefined
  /** Headers that a request has, with exactly these values. For example the `User-Agent` of one client of several. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The probability, in per cent, that the fault applies to such a request. Other requests do not count towards `times`. */
  readonly percent?: number | undefined
}

/**
 * A fault that waits for its requests.
 *
 * @since 1.0.0
 * @category models
 */
export interface Pending extends Selection {
  readonly id: number
  readonly target: Target
  readonly fault: Fault
  /** The number of requests that it still applies to. `Infinity`: all, until the faults are cleared. */
  readonly remaining: number
}

/**
 * An OAuth error body with this status (service contract, section 2).
 *
 * @since 1.0.0
 * @category constructors
 */
export const oauthError = (status: number, error: string, description = "simulated"): Fault =>
  Response({
    status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ error, error_description: description })
  })

/**
 * An HTTP/1.1 response, for `Bytes`, `Drip` and `Endless`. No header is added or corrected, so a response can have a wrong
 * `Content-Length`, or none.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { Fault } from "@credit-data/simulator"
 *
 * // the connection ends after 2 of 1000 bytes
 * export const cut = Fault.Bytes({
 *   bytes: Fault.responseBytes({ headers: ["Content-Length: 1000"], body: "{}" }),
 *   ending: "End"
 * })
 * ```
 */
export const responseBytes = (
  response: {
    /** Default: 200. */
    readonly status?: number | undefined
    /** Header lines, such as `Content-Length: 1000`. Default: none. */
    readonly headers?: ReadonlyArray<string> | undefined
    /** Default: empty. */
    readonly body?: string | undefined
  }
): string =>
  [`HTTP/1.1 ${response.status ?? 200} Simulated`, ...response.headers ?? [], "", response.body ?? ""].join("\r\n")
