import { Prometheus } from "@credit-data/telemetry"
import { assert, describe, it } from "@effect/vitest"
import { HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { expose } from "../src/internal/exposition.ts"
import type { Sample } from "../src/internal/sample.ts"
import { updateEachType } from "./support/metrics.ts"

const about = { description: "", unit: "1", labels: {} }

/** Effect keeps the metrics of a whole process, so each run has its own. */
let runs = 0

describe("the text format of Prometheus", () => {
  const cases: ReadonlyArray<readonly [name: string, sample: Sample, text: ReadonlyArray<string>]> = [
    [
      "a gauge without labels",
      { ...about, name: "jobs", type: "gauge", value: 1.5 },
      ["# TYPE jobs gauge", "jobs 1.5"]
    ],
    [
      "digits that do not begin a name",
      { ...about, name: "http2.streams", type: "gauge", value: 1, labels: { h2: "yes" } },
      ["# TYPE http2_streams gauge", "http2_streams{h2=\"yes\"} 1"]
    ],
    [
      "a counter, whose name ends with total",
      { ...about, name: "jobs.done", type: "counter", value: 2, description: "Jobs\\\nthat are done" },
      ["# HELP jobs_done_total Jobs\\\\\\nthat are done", "# TYPE jobs_done_total counter", "jobs_done_total 2"]
    ],
    [
      "a counter whose name already ends with total",
      { ...about, name: "jobs_total", type: "counter", value: 2 },
      ["# TYPE jobs_total counter", "jobs_total 2"]
    ],
    [
      "a unit, once",
      { ...about, name: "wait.seconds", unit: "s", type: "counter", value: 2 },
      ["# TYPE wait_seconds_total counter", "wait_seconds_total 2"]
    ],
    [
      "a unit without a name",
      { ...about, name: "jobs", unit: "{job}", type: "gauge", value: 2 },
      ["# TYPE jobs gauge", "jobs 2"]
    ],
    [
      "labels in alphabetical order, with escaped values and valid names",
      { ...about, name: "9lives", type: "gauge", value: -Infinity, labels: { "z.z": "a\"b\\c\nd", "1st": "x" } },
      ["# TYPE _9lives gauge", "_9lives{_1st=\"x\",z_z=\"a\\\"b\\\\c\\nd\"} -Inf"]
    ],
    [
      "a histogram",
      {
        ...about,
        name: "size",
        unit: "By",
        labels: { kind: "a" },
        type: "histogram",
        buckets: [[1, 2], [Infinity, 3]],
        count: 3,
        sum: 12
      },
      [
        "# TYPE size_bytes histogram",
        "size_bytes_bucket{kind=\"a\",le=\"1\"} 2",
        "size_bytes_bucket{kind=\"a\",le=\"+Inf\"} 3",
        "size_bytes_sum{kind=\"a\"} 12",
        "size_bytes_count{kind=\"a\"} 3"
      ]
    ],
    [
      "a summary",
      { ...about, name: "size", type: "summary", quantiles: [[0.5, 7]], count: 3, sum: 12 },
      ["# TYPE size summary", "size{quantile=\"0.5\"} 7", "size_sum 12", "size_count 3"]
    ]
  ]
  for (const [name, sample, text] of cases) {
    it(`writes ${name}`, () => {
      assert.strictEqual(expose([sample]), `${text.join("\n")}\n`)
    })
  }

  it("writes each label of a series once, and each series once", () => {
    assert.strictEqual(
      expose([
        { ...about, name: "a.b", type: "gauge", value: 1, labels: { "x.y": "first", x_y: "second" } },
        { ...about, name: "a_b", type: "gauge", value: 2, labels: { x_y: "first" } }
      ]),
      "# TYPE a_b gauge\na_b{x_y=\"first\"} 1\n"
    )
  })

  it("writes the series of a metric together, each once, and none of another type", () => {
    assert.strictEqual(
      expose([
        { ...about, name: "a", type: "gauge", value: 1, labels: { x: "1" } },
        { ...about, name: "b", type: "gauge", value: 2 },
        { ...about, name: "a", type: "gauge", value: 3, labels: { x: "2" } },
        { ...about, name: "a", type: "gauge", value: 3, labels: { x: "2" } },
        { ...about, name: "a", type: "summary", quantiles: [], count: 0, sum: 0 }
      ]),
      "# TYPE a gauge\na{x=\"1\"} 1\na{x=\"2\"} 3\n# TYPE b gauge\nb 2\n"
    )
  })

  it.effect("shows the metrics of the program, of every type", () =>
    Effect.gen(function*() {
      const prefix = `test${++runs}`
      yield* updateEachType(prefix)
      const text = yield* Prometheus.text
      for (
        const line of [
          `${prefix}_bigint_total 5`,
          `# TYPE ${prefix}_balance gauge`,
          `${prefix}_balance -5`,
          `# HELP ${prefix}_gauge A gauge`,
          `${prefix}_gauge 1`,
          `${prefix}_frequency_total{key="red"} 1`,
          `${prefix}_histogram_bucket{le="1"} 0`,
          `${prefix}_histogram_bucket{le="2"} 1`,
          `${prefix}_histogram_bucket{le="+Inf"} 1`,
          `${prefix}_histogram_sum 1.5`,
          `${prefix}_summary{quantile="0.5"} 4`,
          `${prefix}_summary_count 1`,
          `${prefix}_timer_milliseconds 3`,
          `${prefix}_rent{unit="flat 1"} 900`
        ]
      ) assert.include(text.split("\n"), line)
      assert.notInclude(text, "time_unit")
    }))

  it.effect("is the body of the response to a scrape", () =>
    Effect.gen(function*() {
      const response = HttpServerResponse.toWeb(yield* Prometheus.response)
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
      assert.include(yield* Effect.promise(() => response.text()), "# TYPE ")
    }))
})
