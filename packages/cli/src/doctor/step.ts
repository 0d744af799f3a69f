import type * as Option from "effect/Option"

export type Result = "ok" | "warning" | "failed" | "skipped"

/** One line of the examination; safe to print. */
export interface Step {
  readonly name: string
  readonly result: Result
  /** What was found. Short, because it goes into a table. */
  readonly detail: string
  /** What to do. */
  readonly advice: Option.Option<string>
  /** How long the step took, by the monotonic clock. */
  readonly millis: number
}
