import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Result } from "./step.ts"

/** What a check found, if the next check can run, and the value that later checks need. */
export interface Finding<A = void> {
  readonly result: Exclude<Result, "failed">
  readonly detail: string
  readonly advice: Option.Option<string>
  readonly value: A
}

/** Why a check failed, and what to do. */
export interface Failed {
  readonly detail: string
  readonly advice: string
}

export const ok = <A>(detail: string, value: A): Finding<A> => ({ result: "ok", detail, advice: Option.none(), value })

export const warning = <A>(detail: string, advice: string, value: A): Finding<A> => ({
  result: "warning",
  detail,
  advice: Option.some(advice),
  value
})

export const skipped = <A>(detail: string, value: A): Finding<A> => ({
  result: "skipped",
  detail,
  advice: Option.none(),
  value
})

export const failed = (detail: string, advice: string): Effect.Effect<never, Failed> => Effect.fail({ detail, advice })
