import { Prometheus } from "@credit-data/telemetry"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { recorder } from "../src/internal/calls.ts"

let runs = 0

describe("the duration of calls", () => {
  it.effect("has a series for each group, method, template, status and type of error, with the sum of its seconds", () =>
    Effect.gen(function*() {
      const run = `calls ${++runs}`
      const record = recorder({ run })
      const call = {
        group: "Data Access",
        method: "GET",
        template: undefined,
        status: undefined,
        errorType: undefined,
        seconds: 0.25
      }
      yield* record({ ...call, template: "/consumers/{id}", status: 200 })
      yield* record({ ...call, template: "/consumers/{id}", status: 200, seconds: 0.5 })
      yield* record({ ...call, method: "POST", status: 503, errorType: "503" })
      yield* record({ ...call, group: "Furnishment", errorType: "Reset" })
      const sums = Array.from(
        (yield* Prometheus.text).matchAll(/^http_client_request_duration_seconds_sum\{(.*)\} (\S+)$/gm),
        ([, labels = "", sum]) => ({ labels: new Set(labels.replaceAll("\"", "").split(",")), sum: Number(sum) })
      ).filter(({ labels }) => labels.delete(`run=${run}`))
      assert.deepStrictEqual(sums, [
        {
          labels: new Set([
            "credit_data_group=Data Access",
            "http_request_method=GET",
            "http_response_status_code=200",
            "url_template=/consumers/{id}"
          ]),
          sum: 0.75
        },
        {
          labels: new Set([
            "credit_data_group=Data Access",
            "error_type=503",
            "http_request_method=POST",
            "http_response_status_code=503"
          ]),
          sum: 0.25
        },
        { labels: new Set(["credit_data_group=Furnishment", "error_type=Reset", "http_request_method=GET"]), sum: 0.25 }
      ])
    }))
})
