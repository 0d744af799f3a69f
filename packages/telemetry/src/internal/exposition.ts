import type { Labels, Sample } from "./sample.ts"

// The text format of Prometheus, version 0.0.4.

/** The units that have a name in Prometheus. Others are dropped from the name of a metric. */
const unitNames: Readonly<Record<string, string>> = {
  s: "seconds",
  seconds: "seconds",
  ms: "milliseconds",
  milliseconds: "milliseconds",
  us: "microseconds",
  ns: "nanoseconds",
  nanoseconds: "nanoseconds",
  By: "bytes",
  bytes: "bytes"
}

const metricName = ({ name, type, unit }: Sample): string => {
  const valid = name.replace(/[^\w:]/g, "_").replace(/^(?=\d)/, "_")
  const unitName = Object.hasOwn(unitNames, unit) ? `_${unitNames[unit]}` : ""
  const withUnit = valid.endsWith(unitName) ? valid : `${valid}${unitName}`
  return type !== "counter" || withUnit.endsWith("_total") ? withUnit : `${withUnit}_total`
}

const labelName = (name: string): string => name.replace(/\W/g, "_").replace(/^(?=\d)/, "_")

const escaped = (text: string): string => text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n")

type Line = readonly [series: string, value: string]

const line = (name: string, labels: Labels, value: number): Line => {
  // two labels can become one, and Prometheus refuses a whole page because of a duplicate label
  const named = new Map(Object.entries(labels).toReversed().map(([key, text]) => [labelName(key), text]))
  const pairs = Array.from(named).toSorted(([a], [b]) => a < b ? -1 : 1)
    .map(([key, text]) => `${key}="${escaped(text).replace(/"/g, "\\\"")}"`)
  return [`${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`}`, number(value)]
}

const number = (value: number): string => value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value)

const lines = (name: string, sample: Sample): ReadonlyArray<Line> => {
  const { labels } = sample
  switch (sample.type) {
    case "counter":
    case "gauge":
      return [line(name, labels, sample.value)]
    case "histogram":
      return [
        ...sample.buckets.map(([boundary, count]) =>
          line(`${name}_bucket`, { ...labels, le: number(boundary) }, count)
        ),
        line(`${name}_sum`, labels, sample.sum),
        line(`${name}_count`, labels, sample.count)
      ]
    case "summary":
      return [
        ...sample.quantiles.map(([quantile, value]) => line(name, { ...labels, quantile: number(quantile) }, value)),
        line(`${name}_sum`, labels, sample.sum),
        line(`${name}_count`, labels, sample.count)
      ]
  }
}

/**
 * All series of a name have to stand together, be of one type, and differ. Of a name with two types, and of a series that
 * appears twice, only the first is shown.
 */
export const expose = (samples: ReadonlyArray<Sample>): string => {
  const families = new Map<string, { readonly first: Sample; readonly values: Map<string, string> }>()
  for (const sample of samples) {
    const name = metricName(sample)
    const family = families.get(name) ?? { first: sample, values: new Map() }
    families.set(name, family)
    if (family.first.type !== sample.type) continue
    for (const [series, value] of lines(name, sample)) if (!family.values.has(series)) family.values.set(series, value)
  }
  return Array.from(families, ([name, { first, values }]) =>
    [
      ...(first.description === "" ? [] : [`# HELP ${name} ${escaped(first.description)}`]),
      `# TYPE ${name} ${first.type}`,
      ...Array.from(values, ([series, value]) => `${series} ${value}`),
      ""
    ].join("\n")).join("")
}
