import { Effect, Metric, MetricBoundaries } from "effect"

/** Updates a metric of each type, as programs do. */
export const updateEachType = Effect.gen(function*() {
  yield* Metric.update(Metric.counter("test.bigint", { bigint: true, incremental: true }), 5n)
  yield* Metric.update(Metric.counter("test.balance"), -5)
  yield* Metric.update(Metric.gauge("test.gauge", { description: "A gauge" }), 1)
  yield* Metric.update(Metric.frequency("test.frequency"), "red")
  yield* Metric.update(Metric.histogram("test.histogram", MetricBoundaries.fromIterable([1, 2])), 1.5)
  const summary = { name: "test.summary", maxAge: "1 minute", maxSize: 9, error: 0 } as const
  yield* Metric.update(Metric.summary({ ...summary, quantiles: [0.5] }), 4)
  // a quantile without a value
  yield* Metric.update(Metric.summary({ ...summary, name: "test.empty", maxAge: "0 millis", quantiles: [0.5] }), 4)
  yield* Metric.update(Metric.tagged(Metric.gauge("test.timer"), "time_unit", "milliseconds"), 3)
  yield* Metric.update(Metric.tagged(Metric.gauge("test.rent"), "unit", "flat 1"), 900)
})
