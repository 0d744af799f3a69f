import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { Otlp } from "@effect/opentelemetry"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Predicate } from "effect"
import * as Receiver from "../src/receiver.ts"

/** The log records and the spans that a program sends, by the beginning of the text and by name. */
const exported = Effect.fnUntraced(
  function*<A, E>(
    program: Effect.Effect<A, E, DataAccess.DataAccess | AccessTokens.AccessTokens | Simulator.Simulator>
  ) {
    const receiver = yield* Receiver.make
    const Export = Otlp.layerJson({ baseUrl: receiver.url, resource: { serviceName: "a-service" } }).pipe(
      Layer.provide(NodeHttpClient.layerUndici)
    )
    yield* program.pipe(
      Effect.provide(
        DataAccess.layer().pipe(
          Layer.provideMerge(AuthV2.layerConfig()),
          Layer.provide([NodeHttpClient.layer, Simulator.layerConfigProvider]),
          Layer.provideMerge(Layer.provideMerge(Simulator.layer(), Export))
        )
      )
    )
    const of = (path: string) => receiver.exports.filter((each) => each.path === path).map(({ message }) => message)
    const textOf = (body: unknown) => Predicate.isReadonlyRecord(body) ? String(Object.values(body)[0]) : ""
    return {
      record: (beginning: string) => {
        const found = Receiver.having(of("/v1/logs"), "body").filter(({ body }) => textOf(body).startsWith(beginning))
        assert.lengthOf(found, 1, beginning)
        return found[0] ?? {}
      },
      spans: (name: string) => Receiver.having(of("/v1/traces"), "spanId").filter((span) => span["name"] === name)
    }
  }
)

/** The id of the trace, or nothing where a record has none. */
const traceOf = (holder: Record<string, unknown> | undefined) => {
  const id = holder?.["traceId"]
  return id === "" || id === undefined ? undefined : id
}

describe("a log record of the supply", () => {
  it.scopedLive(
    "about a failed token request has the trace of that request, and none of a caller",
    () =>
      Effect.gen(function*() {
        const { record, spans } = yield* exported(Effect.gen(function*() {
          const simulator = yield* Simulator.Simulator
          const client = yield* DataAccess.DataAccess
          yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"))
          yield* Effect.flip(client.get("/data-access/consumers/42")).pipe(Effect.withSpan("a caller"))
        }))
        const failed = record("There is no valid access token")
        const [request] = spans("TokenEndpoint.requestToken")
        assert.isDefined(traceOf(request))
        assert.strictEqual(traceOf(failed), traceOf(request))
        assert.strictEqual(failed["spanId"], request?.["spanId"])
        assert.notStrictEqual(traceOf(failed), traceOf(spans("a caller")[0]))
      }),
    30_000
  )

  it.scopedLive(
    "about a token that was obtained has the trace of its request, and none of a caller",
    () =>
      Effect.gen(function*() {
        const { record, spans } = yield* exported(Effect.gen(function*() {
          const tokens = yield* AccessTokens.AccessTokens
          const simulator = yield* Simulator.Simulator
          yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"))
          yield* Effect.flip(tokens.get)
          // after a failure, the line is written at INFO
          yield* tokens.refresh.pipe(Effect.withSpan("a caller"))
        }))
        const requests = spans("TokenEndpoint.requestToken").map(traceOf)
        assert.include(requests, traceOf(record("An access token was obtained")))
        assert.notInclude(requests, traceOf(spans("a caller")[0]))
      }),
    30_000
  )

  it.scopedLive(
    "about a forced renewal has the trace of the call that was rejected",
    () =>
      Effect.gen(function*() {
        const { record, spans } = yield* exported(Effect.gen(function*() {
          const simulator = yield* Simulator.Simulator
          const client = yield* DataAccess.DataAccess
          const call = Effect.ignore(client.get("/data-access/consumers/42"))
          yield* simulator.failCalls(Fault.Response({ status: 401 }), { times: Number.POSITIVE_INFINITY })
          yield* Effect.withSpan(call, "rejected")
        }))
        assert.isDefined(traceOf(spans("rejected")[0]))
        assert.strictEqual(traceOf(record("The API rejected")), traceOf(spans("rejected")[0]))
      }),
    30_000
  )
})
