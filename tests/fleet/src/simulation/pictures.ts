import { draw, type Plot } from "./plot.ts"
import { resultOf } from "./results.ts"
import { hour, minute, outageOf, peakAfterStart, requestsOf, second } from "./scenario.ts"
import { type Name, scenarios } from "./scenarios.ts"

/** The highest rate within each of these intervals, which contain whole seconds. */
const highest = (
  name: Name,
  { from, step, to }: { readonly from: number; readonly step: number; readonly to: number }
) => {
  const { perSecond } = resultOf(name)
  return Array.from({ length: (to - from) / step }, (_, index) => {
    const start = (from + index * step) / second
    return Math.max(0, ...perSecond.subarray(start, start + step / second))
  })
}

const grouped = (value: number) => value.toLocaleString("en").replaceAll(",", " ")
const peak = (name: Name) => `peak ${grouped(peakAfterStart(resultOf(name), scenarios[name]))} per second`
const requests = (name: Name) => {
  const count = requestsOf(resultOf(name))
  return count === 1 ? "1 request" : `${grouped(count)} requests`
}

const marks = (from: number, to: number, step: number, label: (at: number) => string): Plot["marks"] =>
  Array.from({ length: (to - from) / step + 1 }, (_, index) => ({
    at: index * step / (to - from),
    label: label(from + index * step)
  }))

const renewals = (): string => {
  const range = { from: 0, to: 48 * hour, step: 10 * minute }
  return draw({
    title: "100 000 clients renew tokens of 24 hours",
    unit: "Token requests per second, the highest rate in each 10 minutes. At 0 h, the clients start within 60 s.",
    highest: 4,
    marks: marks(0, range.to, 6 * hour, (at) => `${at / hour} h`),
    panels: [
      {
        title: `Renewal at exactly 80 % of the life: ${peak("fixed")} after the start`,
        values: highest("fixed", range)
      },
      {
        title: `Renewal between 75 and 90 %, the default: ${peak("usual")} after the start`,
        values: highest("usual", range)
      },
      { title: `Shared store: ${requests("shared")} in 48 hours`, values: highest("shared", range) }
    ]
  })
}

const outages = (): string => {
  const rows = [
    ["fixedOutage", "Renewal at exactly 80 % of the life"],
    ["usualOutage", "Renewal between 75 and 90 %, the default"],
    ["sharedOutage", "Shared store"]
  ] as const
  const from = -5 * minute
  const to = 20 * minute
  return draw({
    title: "The token endpoint fails for 10 minutes when the renewals begin",
    unit: "Token requests per second of 100 000 clients, the highest rate in each 10 seconds",
    highest: 5,
    marks: marks(from, to, 5 * minute, (at) => `${at / minute} min`),
    band: { from: 0.2, to: 0.6, label: "the endpoint returns 503" },
    panels: rows.map(([name, title]) => {
      const start = outageOf(scenarios[name]).from
      return {
        title: `${title}: ${peak(name)}`,
        values: highest(name, { from: start + from, to: start + to, step: 10 * second })
      }
    })
  })
}

const coldStart = (): string => {
  const range = { from: 0, to: scenarios.cold.duration, step: second }
  const affected = (name: Name) => `${grouped(resultOf(name).affected)} clients get failures`
  return draw({
    title: "100 000 clients start without a token",
    unit: "Token requests per second. The endpoint handles 500 per second and queues the others.",
    highest: 5,
    marks: marks(0, range.to, 10 * second, (at) => `${at / second} s`),
    limit: { value: scenarios.cold.capacity ?? 0, label: "capacity" },
    panels: [
      { title: `Start within 1 second: ${affected("cold")}`, values: highest("cold", range) },
      { title: `Start within 4 minutes: ${affected("coldSlow")}`, values: highest("coldSlow", range) },
      { title: `Start within 1 second, shared store: ${requests("coldShared")}`, values: highest("coldShared", range) }
    ]
  })
}

/** The plots of the documentation, by the name of their file in `docs`. */
export const pictures = {
  "fleet-renewals.svg": renewals,
  "fleet-outage.svg": outages,
  "fleet-cold-start.svg": coldStart
}
