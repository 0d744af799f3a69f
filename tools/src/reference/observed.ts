import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { AccessTokens } from "@credit-data/core"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { ConfigProvider, Effect, Layer, Logger, LogLevel, Redacted, TestClock, TestContext } from "effect"
import { AuthV1 } from "../../../packages/auth-v1/src/index.ts"
import { AuthV2 } from "../../../packages/auth-v2/src/index.ts"
import { DataAccess, GroupClient } from "../../../packages/http-client/src/index.ts"
import { RedisTokenStore } from "../../../packages/store-redis/src/index.ts"
import { Prometheus, Telemetry } from "../../../packages/telemetry/src/index.ts"
import { modulesWith } from "./declarations.ts"

// What is known only at run time: the variables that a layer misses, and the metrics and spans of a program.

/** Issues two tokens, of which the API rejects the first, and refuses any further token request. No request leaves the process. */
const service = () => {
  let calls = 0
  let issued = 0
  return HttpClient.make((request) => {
    const json = (body: object, status = 200) =>
      Effect.succeed(HttpClientResponse.fromWeb(request, new Response(JSON.stringify(body), { status })))
    if (!request.url.endsWith("/token")) return json({}, calls++ === 0 ? 401 : 500)
    if (issued === 2) return json({ error: "invalid_request" }, 400)
    return json({ access_token: `token-${++issued}`, token_type: "Bearer", expires_in: 86_400 })
  })
}

/** The layers that read variables. */
const layers = {
  AuthV1: Layer.discard(AuthV1.layerConfig()),
  AuthV2: Layer.discard(AuthV2.layerConfig()),
  RedisTokenStore: Layer.discard(RedisTokenStore.layerConfig())
}

/** Every variable that a layer requires, with what the error of the layer says about it, and the layers that read it. */
export const variables = Effect.gen(function*() {
  const missing = modulesWith("layerConfig").filter((module) => !(module.replace(/.*\//, "") in layers))
  if (missing.length > 0) throw new Error(`no table has the variables of ${missing.join(", ")}`)
  const found = new Map<string, { readonly text: string; readonly readBy: ReadonlyArray<string> }>()
  for (const [layer, value] of Object.entries(layers)) {
    const error = yield* Effect.flip(Effect.scoped(Layer.build(value)))
    for (const [, name = "", text = ""] of error.toString().matchAll(/^- (\w+) is missing: (.*)$/gm)) {
      found.set(name, { text, readBy: [...found.get(name)?.readBy ?? [], layer] })
    }
  }
  return found
}).pipe(
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map())),
  Effect.provideService(HttpClient.HttpClient, service())
)

const environment = {
  name: "sandbox",
  audience: "https://api.sandbox.example",
  baseUrl: "https://api.sandbox.example",
  authV2Url: "https://oauth.sandbox.example"
}

const tokens = AuthV2.layer({
  environment,
  // an effect, which is read again
  credentials: Effect.sync(() => ({ clientId: "client", clientSecret: Redacted.make("secret") })),
  scopes: ["data-access:all"]
})

/** The metrics and spans of a program whose call is resent with another token and fails, and whose last token request is refused. */
export const program = Effect.gen(function*() {
  const { spans, tracer } = recordingTracer()
  const call = Effect.flatMap(
    DataAccess.DataAccess,
    (client) => GroupClient.call(client, "GET", "/data-access/consumers/{id}", { id: "42" })
  )
  const metrics = yield* Effect.gen(function*() {
    const { refresh } = yield* AccessTokens.AccessTokens
    yield* call
    yield* TestClock.adjust("1 minute")
    yield* Effect.flip(refresh)
    yield* TestClock.adjust("1 second")
    return yield* Prometheus.text
  }).pipe(
    Effect.provide(
      Layer.mergeAll(DataAccess.layer(), Telemetry.layer()).pipe(
        Layer.provideMerge(tokens),
        Layer.provide(Layer.succeed(HttpClient.HttpClient, service())),
        Layer.provide(Layer.setTracer(tracer))
      )
    )
  )
  return { metrics, spans }
}).pipe(Effect.provide(TestContext.TestContext), Logger.withMinimumLogLevel(LogLevel.None))
