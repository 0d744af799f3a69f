import { Chunk, Effect, Logger, Option, Stream } from "effect"
import { examine, type Step } from "../../src/doctor/doctor.ts"

/** A step without its time, and with plain text in place of an Option. */
export interface Line {
  readonly name: string
  readonly result: Step["result"]
  readonly detail: string
  readonly advice: string
}

export type Options = Parameters<typeof examine>[0]

export const examined = (options: Options) =>
  Stream.runCollect(examine(options)).pipe(
    Effect.map((steps) =>
      Chunk.toReadonlyArray(steps).map(({ advice, detail, name, result }): Line => ({
        name,
        result,
        detail,
        advice: Option.getOrElse(advice, () => "")
      }))
    ),
    Effect.provide(Logger.remove(Logger.defaultLogger))
  )
