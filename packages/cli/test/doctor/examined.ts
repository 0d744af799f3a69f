import { Effect, Logger, Option } from "effect"
import { examine, type Step } from "../../src/doctor/doctor.ts"

/** A step without its time, and with plain text in place of an Option. */
export interface Line {
  readonly name: string
  readonly result: Step["result"]
  readonly detail: string
  readonly advice: string
}

export type Options = Omit<Parameters<typeof examine>[0], "report">

/** All steps of an examination. */
export const examined = (options: Options) =>
  Effect.suspend(() => {
    const lines: Array<Line> = []
    const report = ({ advice, detail, name, result }: Step) =>
      Effect.sync(() => {
        lines.push({ name, result, detail, advice: Option.getOrElse(advice, () => "") })
      })
    return Effect.as(examine({ ...options, report }), lines)
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
