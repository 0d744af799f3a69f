import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricKeyType from "effect/MetricKeyType"
import * as MetricState from "effect/MetricState"
import * as Option from "effect/Option"
import { type Sample, withoutUnit } from "./sample.ts"

/** The series of the program, including those of other libraries and of Effect itself. */
export const snapshot: Effect.Effect<ReadonlyArray<Sample>> = Effect.map(
  Metric.snapshot,
  (pairs) =>
    pairs.flatMap(({ metricKey, metricState: state }): ReadonlyArray<Sample> => {
      const { labels, unit } = withoutUnit(Object.fromEntries(metricKey.tags.map(({ key, value }) => [key, value])))
      const about = {
        name: metricKey.name,
        description: Option.getOrElse(metricKey.description, () => ""),
        unit,
        labels
      }
      if (MetricState.isCounterState(state)) {
        // a counter of Effect may also decrease
        const type = MetricKeyType.isCounterKey(metricKey.keyType) && metricKey.keyType.incremental
          ? "counter"
          : "gauge"
        return [{ ...about, type, value: Number(state.count) }]
      }
      if (MetricState.isGaugeState(state)) return [{ ...about, type: "gauge", value: Number(state.value) }]
      if (MetricState.isFrequencyState(state)) {
        return Array.from(state.occurrences, ([key, value]) => ({
          ...about,
          labels: { ...labels, key },
          type: "counter",
          value
        }))
      }
      if (MetricState.isHistogramState(state)) {
        return [{ ...about, type: "histogram", buckets: state.buckets, count: state.count, sum: state.sum }]
      }
      if (MetricState.isSummaryState(state)) {
        const quantiles = state.quantiles.flatMap(([quantile, value]) =>
          Option.match(value, { onNone: () => [], onSome: (value) => [[quantile, value] as const] })
        )
        return [{ ...about, type: "summary", quantiles, count: state.count, sum: state.sum }]
      }
      return []
    })
)
