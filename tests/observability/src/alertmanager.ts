import { start } from "@credit-data/test-support/childProcess"
import { freePorts } from "@credit-data/test-support/freePorts"
import { FileSystem, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect, Schedule, Schema } from "effect"

/** The labels of an alert. */
export type Labels = Readonly<Record<string, string>>

const Alerts = HttpClientResponse.schemaBodyJson(Schema.Array(Schema.Struct({
  labels: Schema.Record({ key: Schema.String, value: Schema.String }),
  status: Schema.Struct({ inhibitedBy: Schema.Array(Schema.String) })
})))

/** Starts Alertmanager with this configuration. */
export const startAlertmanager = Effect.fnUntraced(function*(configuration: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  yield* fs.writeFileString(`${folder}/alertmanager.yml`, configuration)
  const port = yield* freePorts(1)
  yield* start([
    "prometheus-alertmanager",
    `--config.file=${folder}/alertmanager.yml`,
    `--storage.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--cluster.listen-address="
  ])
  const url = `http://127.0.0.1:${port}/api/v2/alerts`
  return {
    /** Raises alerts, when Alertmanager listens. */
    raise: (alerts: ReadonlyArray<Labels>) =>
      HttpClientRequest.post(url).pipe(
        HttpClientRequest.bodyJson(alerts.map((labels) => ({ labels }))),
        Effect.flatMap(HttpClient.execute),
        Effect.flatMap(HttpClientResponse.filterStatusOk),
        Effect.retry(Schedule.spaced("200 millis")),
        Effect.timeout("25 seconds")
      ),
    /** All alerts, when this many are there and Alertmanager has decided which of them are silent. */
    alerts: (count: number) =>
      HttpClient.get(url).pipe(
        Effect.flatMap(Alerts),
        Effect.filterOrFail((alerts) => alerts.length === count),
        Effect.retry(Schedule.spaced("200 millis")),
        Effect.timeout("25 seconds")
      )
  }
}, Effect.provide(NodeContext.layer))
