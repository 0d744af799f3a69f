import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { Migration } from "@credit-data/migration"
import { Fault, Simulator } from "@credit-data/simulator"
import { Prometheus } from "@credit-data/telemetry"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

it.live("the fallback of a migration is counted once by environment, client and reason, until it ends", () =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"), { path: "/oauth2/token", times: 10 })
    const environment = { ...simulator.environment, name: "fallback-metric" }
    const { credentials } = simulator
    const layer = Migration.layer({
      v1: AuthV1.layer({ environment, credentials }),
      v2: AuthV2.layer({ environment, credentials, scopes: ["data-access:all"] }),
      plan: Effect.succeed({ stage: "v2", fallback: true } as const)
    }).pipe(Layer.provide(NodeHttpClient.layer))
    const text = yield* Effect.flatMap(
      AccessTokens.AccessTokens,
      ({ get }) => Effect.zipRight(Effect.replicateEffect(get, 3), Prometheus.text)
    ).pipe(Effect.provide(layer))
    const [line = "none", ...others] = text.match(/^credit_data_migration_fallbacks_total\{.*fallback-metric.*$/gm) ??
      []
    assert.deepStrictEqual(others, [])
    assert.match(line, /credit_data_client_id="simulated-client"/)
    assert.match(line, /reason="Failed"/)
    assert.match(line, / 1$/)
  }).pipe(Effect.provide(Simulator.layer())))
