import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { type Definition, type Labels, type Sample, withoutUnit } from "./sample.ts"

// The only module that uses Effect's metrics, whose interface differs between the major versions of Effect.

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

/** All series of the program, including those of other libraries and of Effect itself. */
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
