import { Prometheus } from "@credit-data/telemetry"
import { listen } from "@credit-data/test-support/listen"
import { Effect } from "effect"
import { createServer } from "node:http"

/** The metrics of this process, as a service shows them. */
export const serveMetrics = listen(createServer((_, response) => {
  void Effect.runPromise(Prometheus.text).then((text) => response.end(text))
}))
