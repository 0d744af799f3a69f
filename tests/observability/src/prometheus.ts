import { start } from "@credit-data/test-support/childProcess"
import { FileSystem, HttpClient, HttpClientResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect, Schedule, Schema } from "effect"
import { files } from "@credit-data/tools/telemetry/files"
import { freePorts } from "@credit-data/test-support/freePorts"

const Sample = Schema.Tuple(Schema.Number, Schema.NumberFromString)

/** The series that Prometheus returns, with one sample or several. */
const result = <A, I>(samples: Schema.Schema<A, I>) =>
  HttpClientResponse.schemaBodyJson(Schema.Struct({
    data: Schema.Struct({ result: Schema.Array(samples) })
  }))
const metric = Schema.Record({ key: Schema.String, value: Schema.String })
const Vector = result(Schema.Struct({ metric, value: Sample }))
const Matrix = result(Schema.Struct({ metric, values: Schema.Array(Sample) }))

/** Starts Prometheus with these alert rules. It scrapes this port and evaluates the rules every second. */
export const startPrometheus = Effect.fnUntraced(function*(target: number, rules?: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  if (rules !== undefined) yield* fs.writeFileString(`${folder}/rules.yml`, rules)
  yield* fs.writeFileString(
    `${folder}/prometheus.yml`,
    JSON.stringify({
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [rules === undefined ? files.rules : `${folder}/rules.yml`],
      scrape_configs: [{ job_name: "service", static_configs: [{ targets: [`127.0.0.1:${target}`] }] }]
    })
  )
  const port = yield* freePorts(1)
  yield* start([
    "prometheus",
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`
  ])
  const query = (expression: string) =>
    HttpClient.get(`http://127.0.0.1:${port}/api/v1/query`, { urlParams: { query: expression } }).pipe(
      Effect.flatMap(Vector),
      Effect.map(({ data }) => data.result)
    )
  return {
    query,
    /** The series of an expression from one second to another, with a value for each second. */
    range: (expression: string, from: number, to: number) =>
      HttpClient.get(`http://127.0.0.1:${port}/api/v1/query_range`, {
        urlParams: { query: expression, start: from, end: to, step: 1 }
      }).pipe(
        Effect.flatMap(Matrix),
        Effect.map(({ data }) => data.result)
      ),
    /** Waits until an expression has a result. */
    await: (expression: string) =>
      query(expression).pipe(
        Effect.filterOrFail((result) => result.length > 0),
        Effect.retry(Schedule.spaced("200 millis")),
        Effect.timeout("25 seconds")
      )
  }
}, Effect.provide(NodeContext.layer))
