import { pipe } from "effect/Function"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricLabel from "effect/MetricLabel"
import type { Definition, Labels } from "./sample.ts"

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

/** Adds a number to a series, which may be negative. Several supplies with the same labels add up, as in a counter. */
export const upDownCounter = (definition: Definition) => (labels: Labels): Update => {
  const { description, name } = definition
  const series = pipe(Metric.counter(name, { description }), Metric.taggedWithLabels(tags(definition, labels)))
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
