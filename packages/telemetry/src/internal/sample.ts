// What the metrics of a program look like, in either major version of Effect.

/** The labels of a series. */
export type Labels = Readonly<Record<string, string>>

/** What a metric measures, and in which unit (UCUM). OTLP exporters read the unit from a tag. */
export interface Definition {
  readonly name: string
  readonly description: string
  readonly unit: string
}

/** The buckets of `http.client.request.duration` in OpenTelemetry's conventions. */
export const secondsOfRequests = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

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
export const withoutUnit = ({ time_unit, unit, ...labels }: Record<string, string>): Pick<Sample, "labels" | "unit"> =>
  unit !== undefined && !/^(1|[a-zA-Z%]{1,12}|\{.*\})$/.test(unit)
    ? { labels: { ...labels, unit }, unit: time_unit ?? "1" }
    : { labels, unit: unit ?? time_unit ?? "1" }
