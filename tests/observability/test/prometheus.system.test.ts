import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { SharedTokens } from "@credit-data/fleet"
import { Fault, Simulator } from "@credit-data/simulator"
import { Prometheus, Telemetry } from "@credit-data/telemetry"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { wrongStore } from "../src/incidents.ts"
import { serveMetrics } from "../src/metrics.ts"
import { startPrometheus } from "../src/prometheus.ts"
import { check } from "../src/promtool.ts"
import { startService } from "../src/service.ts"

describe("Prometheus", () => {
  it.scopedLive("scrapes a service, and alerts about the first refusal of the client", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const service = yield* startService()
      const prometheus = yield* startPrometheus(service.port)
      yield* prometheus.await(
        "credit_data_token_requests_total == 0 and credit_data_token_requests_total offset 2s == 0"
      )
      assert.deepStrictEqual(yield* prometheus.query("ALERTS"), [])
      yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"))
      assert.strictEqual((yield* service.get("/consumers/42")).status, 500)
      const [alert] = yield* prometheus.await(`ALERTS{alertname="CreditDataClientRefused",alertstate="firing"}`)
      assert.deepInclude(alert?.metric, {
        credit_data_environment: "simulator",
        server_address: "127.0.0.1",
        job: "service",
        severity: "critical"
      })
      const [failing] = yield* prometheus.query(`credit_data_token_failing{error_type="InvalidClient"}`)
      assert.strictEqual(failing?.value[1], 1)
    }).pipe(Effect.provide(Layer.merge(Simulator.layer(), NodeHttpClient.layer))), 60_000)

  it.scopedLive("alerts about a store that could not be used before the first scrape", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const store = yield* wrongStore
      const environment = { ...simulator.environment, name: "a store that is never there" }
      const Auth = SharedTokens.layer().pipe(
        Layer.provide(
          AuthV2.layerTokenEndpoint({ environment, credentials: simulator.credentials, scopes: ["data-access:all"] })
        ),
        Layer.provide(store.layer)
      )
      const context = yield* Layer.build(Telemetry.layer().pipe(Layer.provideMerge(Auth)))
      yield* Effect.provide(Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get), context)
      const fault = /^credit_data_token_store_faults_total\{.*a store that is never there.*\} 1$/m
      yield* Effect.repeat(Prometheus.text, {
        schedule: Schedule.spaced("50 millis"),
        until: (text) => fault.test(text)
      })
      const prometheus = yield* startPrometheus(yield* serveMetrics)
      const [alert] = yield* prometheus.await(`ALERTS{alertname="CreditDataStoreUnavailable",alertstate="firing"}`)
      assert.deepInclude(alert?.metric, { credit_data_environment: environment.name, severity: "warning" })
    }).pipe(Effect.provide(Layer.merge(Simulator.layer(), NodeHttpClient.layer))), 60_000)

  it.scopedLive("finds the names and types of the metrics valid, and the instants right", () =>
    Effect.gen(function*() {
      const service = yield* startService()
      yield* service.get("/consumers/42")
      const { text } = yield* service.get("/metrics")
      // Effect's own metrics have no help text
      const ours = text.split("\n").filter((line) => /^(# (HELP|TYPE) )?credit_data_/.test(line))
      assert.isAbove(ours.filter((line) => line.startsWith("# HELP")).length, 6)
      const { isValid, output } = yield* check("metrics", `${ours.join("\n")}\n`)
      assert.isTrue(isValid, output)
      const expiry = Number(/^credit_data_token_expiry_timestamp_seconds.* (\S+)$/m.exec(text)?.[1])
      assert.approximately(expiry - Date.now() / 1000, 86_400, 60)
    }).pipe(Effect.provide(Layer.merge(Simulator.layer(), NodeHttpClient.layer))), 60_000)
})
