import { Effect, Metric } from "effect"

/** Updates a metric of each type, as programs do. */
export const updateEachType = Effect.gen(function*() {
  yield* Metric.update(Metric.counter("test.bigint", { bigint: true, incremental: true }), 5n)
  yield* Metric.update(Metric.counter("test.balance"), -5)
  yield* Metric.update(Metric.gauge("test.gauge", { description: "A gauge" }), 1)
  yield* Metric.update(Metric.frequency("test.frequency"), "red")
  yield* Metric.update(Metric.histogram("test.histogram", { boundaries: [1, 2, Infinity] }), 1.5)
  const summary = { maxAge: "1 minute", maxSize: 9, quantiles: [0.5] } as const
  yield* Metric.update(Metric.summary("test.summary", summary), 4)
  // a quantile without a value
  yield* Metric.update(Metric.summary("test.empty", { ...summary, maxAge: "0 millis" }), 4)
  yield* Metric.update(Metric.withAttributes(Metric.gauge("test.timer"), { time_unit: "milliseconds" }), 3)
  yield* Metric.update(Metric.withAttributes(Metric.gauge("test.rent"), { unit: "flat 1" }), 900)
})
