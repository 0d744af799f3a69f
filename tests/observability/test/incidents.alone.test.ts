import { figures, panels } from "@credit-data/tools/telemetry/dashboard"
import { files } from "@credit-data/tools/telemetry/files"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { readFileSync } from "node:fs"
import { divided, factor, incidents, start, usualEnd } from "../src/incidents.ts"
import { serveMetrics } from "../src/metrics.ts"
import { startPrometheus } from "../src/prometheus.ts"

const rules = readFileSync(files.rules, "utf8")

/** Before an incident, in seconds. */
const quiet = 10
/** From its beginning to what ends it, and from there to the end of the run. */
const going = 30
const over = 75

/**
 * How many times as long as documented an alert may take on a busy machine, whose scrapes are late and whose programs call less often. The
 * minutes of the rules themselves are exact where promtool evaluates them.
 */
const busy = 3

const now = Effect.sync(() => Date.now() / 1_000)

describe("a program in an incident, its metrics and a real Prometheus", () => {
  it.scopedLive(
    "causes the expected alerts in time, and no others, and each panel has data",
    () =>
      Effect.gen(function*() {
        const prometheus = yield* startPrometheus(yield* serveMetrics, divided(rules))
        const names = Object.keys(incidents)
        const worlds = yield* Effect.forEach(names, (name) => Effect.map(start(name), (world) => ({ name, world })))
        yield* Effect.sleep(`${quiet} seconds`)
        const beganAt = yield* now
        yield* Effect.forEach(worlds, ({ name, world }) => incidents[name]?.happens(world) ?? Effect.void, {
          concurrency: "unbounded"
        })
        yield* Effect.sleep(`${beganAt + going - (yield* now)} seconds`)
        yield* Effect.forEach(worlds, ({ name, world }) => incidents[name]?.ends?.(world) ?? Effect.void)
        const endsAt = yield* now
        yield* Effect.sleep(`${endsAt + over - (yield* now)} seconds`)
        const endedAt = yield* now

        for (const { queries, title } of [...figures, ...panels]) {
          for (const [expression] of queries) {
            // a scrape can be late on a busy machine
            yield* prometheus.await(
              expression.replaceAll("$__rate_interval", `${quiet + going + over}s`).replaceAll(
                /\$(environment|client|tenant)/g,
                ".*"
              )
            ).pipe(Effect.orDieWith(() => `${title}: no data for ${expression}`))
          }
        }
        const fired = yield* prometheus.range(`ALERTS{alertstate="firing"}`, beganAt - quiet, endedAt)
        for (const name of names.filter((name) => name.startsWith("the API rejects"))) {
          const invalidations = `credit_data_token_invalidations_total{credit_data_environment="${name}"}`
          assert.lengthOf(
            yield* prometheus.query(`sum(max_over_time(${invalidations}[${going + over}s])) > 0`),
            1,
            name
          )
        }
        for (const name of names) {
          const { alerts = {}, ends, endsWithin = usualEnd } = incidents[name] ?? {}
          const ofIncident = fired.filter(({ metric }) => metric["credit_data_environment"] === name)
          const found = ofIncident.map(({ metric, values }) => ({
            alert: metric["alertname"] ?? "",
            client: metric["credit_data_client_id"],
            tenant: metric["tenant"],
            firstAt: values[0]?.[0] ?? 0,
            lastAt: values.at(-1)?.[0] ?? 0
          }))
          assert.sameMembers([...new Set(found.map(({ alert }) => alert))], Object.keys(alerts), name)
          for (const { alert, client, firstAt, lastAt, tenant } of found) {
            assert.deepStrictEqual([client, tenant], ["simulated-client", "a"], `${name}: ${alert}`)
            const minutes = (firstAt - beganAt) * factor / 60
            assert.isAtMost(minutes, busy * (alerts[alert] ?? 0), `${name}: ${alert}`)
            // a scrape, and the evaluation of a rule after it
            const endedAfter = (lastAt - endsAt - 2) * factor / 60
            // keep_firing_for does not take longer on a busy machine
            const latest = endsWithin + (busy - 1) * usualEnd
            if (ends !== undefined) assert.isAtMost(endedAfter, latest, `${name}: the end of ${alert}`)
          }
        }
      }).pipe(Effect.provide([NodeHttpClient.layer, Logger.remove(Logger.defaultLogger)])),
    240_000
  )
})
