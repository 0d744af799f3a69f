import type { FinishedCall } from "@credit-data/core/Internal"
import * as Effect from "effect/Effect"
import * as Registry from "./registry.ts"
import { type Labels, secondsOfRequests } from "./sample.ts"

const duration = Registry.histogram(
  { name: "http.client.request.duration", description: "Duration of calls of an endpoint group", unit: "s" },
  secondsOfRequests
)

/** Records the calls of the endpoint groups. A series is made once, because making it costs more than changing it. */
export const recorder = (labels: Labels): (call: FinishedCall) => Effect.Effect<void> => {
  const series = new Map<string, Registry.Update>()
  return ({ errorType, group, method, seconds, status, template }) =>
    Effect.suspend(() => {
      const key = JSON.stringify([group, method, template, status, errorType])
      const update = series.get(key) ?? duration({
        ...labels,
        "credit_data.group": group,
        "http.request.method": method,
        ...(template !== undefined && { "url.template": template }),
        ...(status !== undefined && { "http.response.status_code": String(status) }),
        ...(errorType !== undefined && { "error.type": errorType })
      })
      series.set(key, update)
      return update(seconds)
    })
}
