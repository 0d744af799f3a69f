import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { type Sample, withoutUnit } from "./sample.ts"

/** The series of the program, including those of other libraries and of Effect itself. */
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
