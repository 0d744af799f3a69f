import { Schema } from "effect"

const byName = Schema.Record({ key: Schema.String, value: Schema.Number })
const byNameOrNothing = Schema.optionalWith(byName, { exact: true })

/** The figures of one scenario, by the name of the library. */
export const Result = Schema.Struct({
  scenario: Schema.String,
  /** Names the scenarios of the chart. */
  id: Schema.optionalWith(Schema.String, { exact: true }),
  unit: Schema.String,
  /** The number of runs whose median is given. */
  runs: Schema.Number,
  values: byName,
  /** What Effect alone costs, by the name of the library on the same line of Effect. */
  floors: byNameOrNothing,
  /** How much more than Effect alone a library may cost, by the name of the library. */
  atMost: byNameOrNothing,
  /** A lower figure is not better here. */
  isInformation: Schema.optionalWith(Schema.Literal(true), { exact: true })
})

export type Result = typeof Result.Type
