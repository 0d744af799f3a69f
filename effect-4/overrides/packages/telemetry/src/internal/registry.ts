import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

// The only module that knows Effect's metrics, whose interface differs between the major versions of Effect.

/** The labels of a series. */
export type Labels = Readonly<Record<string, string>>

/** What a metric measures, and in which unit (UCUM). OTLP exporters read the unit from an attribute. */
export interface Definition {
  readonly name: string
  readonly description: string
  readonly unit: string
}

/** Changes one series of a metric. */
export type Update = (value: number) => Effect.Effect<void>

/** Adds a number to a series. */
export const counter = ({ description, name, unit }: Definition) => (labels: Labels): Update => {
  const series = Metric.counter(name, { description, incremental: true, attributes: { ...labels, unit } })
  return (value) => Metric.update(series, value)
}

/** Sets the value of a series. */
export const gauge = ({ description, name, unit }: Definition) => (labels: Labels): Update => {
  const series = Metric.gauge(name, { description, attributes: { ...labels, unit } })
  return (value) => Metric.update(series, value)
}

/** Counts a value in the first bucket whose boundary it does not exceed. */
export const histogram =
  ({ description, name, unit }: Definition, boundaries: ReadonlyArray<number>) => (labels: Labels): Update => {
    const series = Metric.histogram(name, {
      description,
      boundaries: Metric.boundariesFromIterable(boundaries),
      attributes: { ...labels, unit }
    })
    return (value) => Metric.update(series, value)
  }

/** The present state of one series. */
export type Sample =
  & Definition
  & { readonly labels: Labels }
  & (
    | { readonly type: "counter" | "gauge"; readonly value: number }
    | {
      readonly type: "histogram"
      /** Each boundary, with the number of values up to it. The last boundary is infinite. */
      readonly buckets: ReadonlyArray<readonly [boundary: number, count: number]>
      readonly count: number
      readonly sum: number
    }
    | {
      readonly type: "summary"
      readonly quantiles: ReadonlyArray<readonly [quantile: number, value: number]>
      readonly count: number
      readonly sum: number
    }
  )

/** The unit is a tag. A program may use the same name for something else, such as a flat. */
const withoutUnit = ({ time_unit, unit, ...labels }: Record<string, string>): Pick<Sample, "labels" | "unit"> =>
  unit !== undefined && !/^(1|[a-zA-Z%]{1,12}|\{.*\})$/.test(unit)
    ? { labels: { ...labels, unit }, unit: time_unit ?? "1" }
    : { labels, unit: unit ?? time_unit ?? "1" }

/** All series of the program, also those of other libraries and of Effect itself. */
export const snapshot: Effect.Effect<ReadonlyArray<Sample>> = Effect.map(
  Metric.snapshot,
  (snapshots) =>
    snapshots.flatMap((metric): ReadonlyArray<Sample> => {
      const { labels, unit } = withoutUnit({ ...metric.attributes })
      const about = { name: metric.id, description: metric.description ?? "", unit, labels }
      switch (metric.type) {
        case "Counter":
          // a counter of Effect may also decrease
          return [{ ...about, type: metric.state.incremental ? "counter" : "gauge", value: Number(metric.state.count) }]
        case "Gauge":
          return [{ ...about, type: "gauge", value: Number(metric.state.value) }]
        case "Frequency":
          return Array.from(metric.state.occurrences, ([key, value]) => ({
            ...about,
            labels: { ...labels, key },
            type: "counter",
            value
          }))
        case "Histogram":
          return [{ ...about, type: "histogram", ...metric.state }]
        case "Summary": {
          const quantiles = metric.state.quantiles.flatMap(([quantile, value]) =>
            value === undefined ? [] : [[quantile, value] as const]
          )
          return [{ ...about, type: "summary", ...metric.state, quantiles }]
        }
      }
    })
)
