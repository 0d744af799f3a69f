import type { TransportReason } from "@credit-data/core/TokenError"
import * as Effect from "effect/Effect"

// What the examination reports, and in which words.

export type Result = "ok" | "warning" | "failed" | "skipped"

/** One line of the examination; safe to print. */
export interface Step {
  readonly name: string
  readonly result: Result
  /** What was found. Short, because it goes into a table. */
  readonly detail: string
  /** What to do. */
  readonly advice: ReadonlyArray<string>
  /** What else is worth knowing: where the variables come from. */
  readonly notes: ReadonlyArray<string>
  /** How long the step took, by the monotonic clock. */
  readonly millis: number
}

/** What a check found, if the next check can run, and the value that later checks need. */
export interface Finding<A = void> {
  readonly result: Exclude<Result, "failed">
  readonly detail: string
  readonly advice: ReadonlyArray<string>
  readonly notes: ReadonlyArray<string>
  readonly value: A
}

/** Why a check failed, and what to do. */
export interface Failed {
  readonly detail: string
  readonly advice: ReadonlyArray<string>
  readonly notes: ReadonlyArray<string>
}

export const ok = <A>(detail: string, value: A): Finding<A> => ({ result: "ok", detail, advice: [], notes: [], value })

export const warning = <A>(detail: string, advice: string, value: A): Finding<A> => ({
  result: "warning",
  detail,
  advice: [advice],
  notes: [],
  value
})

export const skipped = <A>(detail: string, value: A): Finding<A> => ({
  result: "skipped",
  detail,
  advice: [],
  notes: [],
  value
})

export const failed = (detail: string, ...advice: ReadonlyArray<string>): Effect.Effect<never, Failed> =>
  Effect.fail({ detail, advice, notes: [] })

/** Why there was no complete response, in a few words. The advice explains it. */
export const reasons: Readonly<Record<TransportReason, string>> = {
  NameNotFound: "the name does not resolve",
  NameServiceFailed: "DNS did not respond",
  Refused: "the connection was refused",
  Unreachable: "the host cannot be reached",
  Reset: "the connection was closed",
  Cut: "the response broke off",
  Garbled: "it is not HTTP",
  Tls: "the TLS handshake failed",
  Proxy: "the proxy did not let it through",
  Timeout: "it took too long",
  Other: "the connection failed"
}

const minute = 60
const hour = 60 * minute
const day = 24 * hour

const plural = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? "" : "s"}`

/** A length of time in the largest unit of which there are at least two, except for a second. */
export const length = (millis: number): string => {
  const seconds = Math.round(millis / 1_000)
  if (seconds < 2 * minute) return plural(seconds, "second")
  if (seconds < 2 * hour) return plural(Math.round(seconds / minute), "minute")
  if (seconds < 2 * day) return plural(Math.round(seconds / hour), "hour")
  return plural(Math.floor(seconds / day), "day")
}

/** An instant in UTC, to the second. */
export const instant = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, "Z")

/** A date in UTC. */
export const date = (millis: number): string => new Date(millis).toISOString().slice(0, 10)
