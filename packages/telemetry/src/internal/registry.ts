import { pipe } from "effect/Function"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKeyType from "effect/MetricKeyType"
import * as MetricLabel from "effect/MetricLabel"
import * as MetricState from "effect/MetricState"
import * as Option from "effect/Option"
import { type Definition, type Labels, type Sample, withoutUnit } from "./sample.ts"

// The only module that uses Effect's metrics, whose interface differs between the major versions of Effect.

/** Changes one series of a metric. */
export type Update = (value: number) => Effect.Effect<void>

const tags = ({ unit }: Definition, labels: Labels) =>
  Object.entries({ ...labels, unit }).map(([key, value]) => MetricLabel.make(key, value))

/** Adds a number to a series. */
export const counter = (definition: Definition) => (labels: Labels): Update => {
  const { description, name } = definition
  const series = pipe(
    Metric.counter(name, { description, incremental: true }),
    Metric.taggedWithLabels(tags(definition, labels))
  )
  return (value) => Metric.update(series, value)
}

/** Sets the value of a series. */
export const gauge = (definition: Definition) => (labels: Labels): Update => {
  const { description, name } = definition
  const series = pipe(Metric.gauge(name, { description }), Metric.taggedWithLabels(tags(definition, labels)))
  return (value) => Metric.update(series, value)
}

/** Counts a value in the first bucket whose boundary it does not exceed. */
export const histogram = (definition: Definition, boundaries: ReadonlyArray<number>) => (labels: Labels): Update => {
  const series = pipe(
    Metric.histogram(definition.name, MetricBoundaries.fromIterable(boundaries), definition.description),
    Metric.taggedWithLabels(tags(definition, labels))
  )
  return (value) => Metric.update(series, value)
}

/** All series of the program, including those of other libraries and of Effect itself. */
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
