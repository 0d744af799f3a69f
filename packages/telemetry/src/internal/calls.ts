import type { CallObserver } from "@credit-data/core/Internal"
import * as Effect from "effect/Effect"
import * as Registry from "./registry.ts"
import { type Labels, secondsOfRequests } from "./sample.ts"

const duration = Registry.histogram(
  { name: "http.client.request.duration", description: "Duration of calls of an endpoint group", unit: "s" },
  secondsOfRequests
)

const active = Registry.upDownCounter({
  name: "http.client.active_requests",
  description: "Calls of an endpoint group that have not ended",
  unit: "{request}"
})

/** Records the calls of the endpoint groups. A series is made once, because making it costs more than changing it. */
export const recorder = (labels: Labels): CallObserver => {
  const durations = new Map<string, Registry.Update>()
  const actives = new Map<string, Registry.Update>()
  const change = (group: string, by: number) =>
    Effect.suspend(() => {
      const update = actives.get(group) ?? active({ ...labels, "credit_data.group": group })
      actives.set(group, update)
      return update(by)
    })
  return {
    begins: (group) => change(group, 1),
    ends: ({ errorType, group, method, seconds, status, template }) =>
      Effect.suspend(() => {
        const key = JSON.stringify([group, method, template, status, errorType])
        const update = durations.get(key) ?? duration({
          ...labels,
          "credit_data.group": group,
          "http.request.method": method,
          ...(template !== undefined && { "url.template": template }),
          ...(status !== undefined && { "http.response.status_code": String(status) }),
          ...(errorType !== undefined && { "error.type": errorType })
        })
        durations.set(key, update)
        return Effect.zipRight(change(group, -1), update(seconds))
      })
  }
}
