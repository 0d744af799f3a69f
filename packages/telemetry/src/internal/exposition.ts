import type { Labels, Sample } from "./registry.ts"

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

const series = (name: string, labels: Labels, value: number): string => {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => a < b ? -1 : 1)
    .map(([key, text]) => `${labelName(key)}="${escaped(text).replace(/"/g, "\\\"")}"`)
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${number(value)}`
}

const number = (value: number): string => value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value)

const lines = (name: string, sample: Sample): ReadonlyArray<string> => {
  const { labels } = sample
  switch (sample.type) {
    case "counter":
    case "gauge":
      return [series(name, labels, sample.value)]
    case "histogram":
      return [
        ...sample.buckets.map(([boundary, count]) =>
          series(`${name}_bucket`, { ...labels, le: number(boundary) }, count)
        ),
        series(`${name}_sum`, labels, sample.sum),
        series(`${name}_count`, labels, sample.count)
      ]
    case "summary":
      return [
        ...sample.quantiles.map(([quantile, value]) => series(name, { ...labels, quantile: number(quantile) }, value)),
        series(`${name}_sum`, labels, sample.sum),
        series(`${name}_count`, labels, sample.count)
      ]
  }
}

/** All samples of a name have to stand together and be of one type. Of a name with two types, only the first one is shown. */
export const expose = (samples: ReadonlyArray<Sample>): string => {
  const families = new Map<string, { readonly first: Sample; readonly lines: Set<string> }>()
  for (const sample of samples) {
    const name = metricName(sample)
    const family = families.get(name) ?? { first: sample, lines: new Set() }
    families.set(name, family)
    if (family.first.type === sample.type) { for (const line of lines(name, sample)) family.lines.add(line) }
  }
  return Array.from(families, ([name, { first, lines }]) =>
    [
      ...(first.description === "" ? [] : [`# HELP ${name} ${escaped(first.description)}`]),
      `# TYPE ${name} ${first.type}`,
      ...lines,
      ""
    ].join("\n")).join("")
}
