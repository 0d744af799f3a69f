/**
 * What a simulated server does in place of answering as the contract says.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"

/**
 * A fault, as data.
 *
 * - `Answer`: this status, these headers, this body, whatever was asked.
 * - `Delay`: the usual answer, but later, by the Effect Clock.
 * - `Silence`: no answer, ever.
 * - `Reset`: the connection is reset.
 * - `Bytes`: these bytes are written to the connection, beneath HTTP, and then it is ended, reset or left open.
 * - `Drip`: these bytes are written one at a time, so long apart by the Effect Clock, and the connection is left open.
 * - `Endless`: after these bytes, a mebibyte of spaces is written over and over, as fast as it is read.
 *
 * @since 1.0.0
 * @category models
 */
export type Fault = Data.TaggedEnum<{
  Answer: {
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
 *   simulator.failTokenRequests(Fault.Answer({ status: 503, headers: { "retry-after": "2" } }), { times: 2 }))
 * ```
 */
export const { $is, $match, Answer, Bytes, Delay, Drip, Endless, Reset, Silence } = Data.taggedEnum<Fault>()

/**
 * An OAuth error body with this status (service contract, section 2).
 *
 * @since 1.0.0
 * @category constructors
 */
export const oauthError = (status: number, error: string, description = "simulated"): Fault =>
  Answer({
    status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ error, error_description: description })
  })

/**
 * The bytes of an HTTP/1.1 answer, for `Bytes`, `Drip` and `Endless`. Nothing is added or corrected: an answer without an
 * honest `Content-Length` is what this is for.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { Fault } from "@credit-data/simulator"
 *
 * // the connection ends after 2 of 1000 bytes
 * export const cut = Fault.Bytes({
 *   bytes: Fault.answerBytes({ headers: ["Content-Length: 1000"], body: "{}" }),
 *   ending: "End"
 * })
 * ```
 */
export const answerBytes = (
  answer: {
    /** Default: 200. */
    readonly status?: number | undefined
    /** Whole header lines, without their ends: a header may come twice. Default: none. */
    readonly headers?: ReadonlyArray<string> | undefined
    /** Default: empty. */
    readonly body?: string | undefined
  }
): string => [`HTTP/1.1 ${answer.status ?? 200} Simulated`, ...answer.headers ?? [], "", answer.body ?? ""].join("\r\n")
