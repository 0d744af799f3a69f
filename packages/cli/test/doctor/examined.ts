import { Effect, Logger } from "effect"
import { examine } from "../../src/doctor/doctor.ts"
import type { Step } from "../../src/doctor/step.ts"

/** A step without its time, with its advice as one text. */
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
        lines.push({ name, result, detail, advice: advice.join(" ") })
      })
    return Effect.as(examine({ ...options, report }), lines)
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
