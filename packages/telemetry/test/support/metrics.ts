import { Effect, Metric, MetricBoundaries } from "effect"

/** Updates a metric of each type, as programs do. */
export const updateEachType = Effect.fnUntraced(function*(prefix: string) {
  yield* Metric.update(Metric.counter(`${prefix}.bigint`, { bigint: true, incremental: true }), 5n)
  yield* Metric.update(Metric.counter(`${prefix}.balance`), -5)
  yield* Metric.update(Metric.gauge(`${prefix}.gauge`, { description: "A gauge" }), 1)
  yield* Metric.update(Metric.frequency(`${prefix}.frequency`), "red")
  yield* Metric.update(Metric.histogram(`${prefix}.histogram`, MetricBoundaries.fromIterable([1, 2]), "Values"), 1.5)
  const summary = { maxAge: "1 minute", maxSize: 9, quantiles: [0.5] } as const
  yield* Metric.update(Metric.summary({ name: `${prefix}.summary`, error: 0, ...summary }), 4)
  // a quantile without a value
  yield* Metric.update(Metric.summary({ name: `${prefix}.empty`, error: 0, ...summary, maxAge: "0 millis" }), 4)
  yield* Metric.update(Metric.tagged(Metric.gauge(`${prefix}.timer`), "time_unit", "milliseconds"), 3)
  yield* Metric.update(Metric.tagged(Metric.gauge(`${prefix}.rent`), "unit", "flat 1"), 900)
})
