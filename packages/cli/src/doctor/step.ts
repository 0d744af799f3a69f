import * as Effect from "effect/Effect"

// What the examination reports, and in which words.

export type Result = "ok" | "warning" | "failed" | "skipped"

/** What a check found; safe to print. */
export interface Finding {
  readonly result: Result
  /** Short, because it goes into a table. */
  readonly detail: string
  /** What to do. */
  readonly advice: ReadonlyArray<string>
  /** What else is worth knowing: where the variables come from. */
  readonly notes: ReadonlyArray<string>
}

/** One line of the examination. */
export interface Step extends Finding {
  readonly name: string
  /** How long the step took, by the monotonic clock. */
  readonly millis: number
}

const finding = (result: Result) => (detail: string, ...advice: ReadonlyArray<string>): Finding => ({
  result,
  detail,
  advice,
  notes: []
})

export const ok = finding("ok")
export const warning = finding("warning")
export const skipped = finding("skipped")

/** The finding after which the next check cannot run. */
export const failed = (detail: string, ...advice: ReadonlyArray<string>): Effect.Effect<never, Finding> =>
  Effect.fail(finding("failed")(detail, ...advice))

const units = [[1_000, "second"], [60_000, "minute"], [3_600_000, "hour"], [86_400_000, "day"]] as const

/** A length of time in the largest unit of which there are at least two, except for a second. */
export const length = (millis: number): string => {
  const [size, unit] = units.findLast(([size]) => millis >= 2 * size) ?? units[0]
  const count = unit === "day" ? Math.floor(millis / size) : Math.round(millis / size)
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}

/** An instant in UTC, to the second. */
export const instant = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, "Z")

/** A date in UTC. */
export const date = (millis: number): string => instant(millis).slice(0, 10)
