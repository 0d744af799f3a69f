import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

describe("the traces of a program", () => {
  it.scopedLive("show how long a call waited for tokens, and how the token requests ended", () => {
    const { spans, tracer } = recordingTracer()
    const named = (name: string) => spans.filter((span) => span.name === name)
    return Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const tokens = yield* AccessTokens.AccessTokens
      const client = yield* DataAccess.DataAccess
      const call = Effect.exit(client.get("/data-access/consumers/42"))
      yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"))
      yield* call
      yield* tokens.refresh
      yield* tokens.refresh
      yield* call
      const [refused, refreshed] = named("TokenEndpoint.requestToken")
      const [first, second] = named("GET")
      assert.deepInclude(refused?.attributes, {
        "server.address": "127.0.0.1",
        "http.response.status_code": 401,
        "credit_data.token.reason": "Nothing",
        "error.type": "InvalidClient"
      })
      assert.deepInclude(refreshed?.attributes, {
        "http.response.status_code": 200,
        "credit_data.token.reason": "Refresh"
      })
      assert.notProperty(refreshed?.attributes, "error.type")
      const waited = (span: typeof first) => Number(span?.attributes["credit_data.token.wait_duration"])
      assert.isAbove(waited(first), waited(second))
    }).pipe(
      Effect.provide(
        DataAccess.layer().pipe(
          Layer.provideMerge(AuthV2.layerConfig()),
          Layer.provide([NodeHttpClient.layer, Simulator.layerConfigProvider]),
          Layer.provideMerge(Simulator.layer())
        )
      ),
      Effect.withTracer(tracer)
    )
  })
})
