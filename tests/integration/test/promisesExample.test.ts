import { AuthV2 } from "@credit-data/auth-v2"
import { TokenError } from "@credit-data/core"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { HttpClientError } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, ConfigProvider, Effect, Exit, Layer, Logger, ManagedRuntime } from "effect"

const Clients = DataAccess.layer().pipe(
  Layer.provide(AuthV2.layerConfig()),
  Layer.provide(NodeHttpClient.layer),
  Layer.provide(Logger.remove(Logger.defaultLogger))
)

/** The program of the page about promises. */
const program = <E>(layer: Layer.Layer<DataAccess.DataAccess, E>) => {
  const runtime = ManagedRuntime.make(layer)

  const run = async <A, E>(effect: Effect.Effect<A, E, DataAccess.DataAccess>): Promise<A> => {
    const exit = await runtime.runPromiseExit(effect)
    if (Exit.isSuccess(exit)) return exit.value
    throw Cause.squash(exit.cause)
  }

  const readConsumer = (id: string): Promise<unknown> =>
    run(
      Effect.flatMap(DataAccess.DataAccess, GroupClient.call("GET", "/data-access/consumers/{id}", { id })).pipe(
        Effect.flatMap((response) => response.json)
      )
    )
  return { run, readConsumer, dispose: Effect.promise(() => runtime.dispose()) }
}

const statusOf = (error: unknown): 500 | 503 => {
  if (TokenError.isTokenError(error)) return error.retryable ? 503 : 500
  return HttpClientError.isHttpClientError(error) && error._tag === "RequestError" && error.reason === "Transport"
    ? 503
    : 500
}

const caught = (promise: Promise<unknown>) =>
  Effect.promise(() => promise.then(() => undefined, (error: unknown) => ({ error })))

describe("the program on the page about promises", () => {
  it.scopedLive("maps a caught error to the status for its own callers", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const variables = Simulator.layerConfigProvider.pipe(Layer.provide(Layer.succeed(Simulator.Simulator, simulator)))
      const { dispose, readConsumer, run } = program(Layer.provide(Clients, variables))
      yield* Effect.addFinalizer(() => dispose)
      yield* Effect.promise(() => run(Effect.void))
      const path = "/data-access/consumers/a%20b"
      assert.deepInclude(yield* Effect.promise(() => readConsumer("a b")), { path })
      yield* simulator.failCalls(Fault.Response({ status: 200, body: "not JSON" }))
      const statuses = [statusOf((yield* caught(readConsumer("42")))?.error)]
      statuses.push(statusOf((yield* caught(readConsumer("..")))?.error))
      yield* simulator.failCalls(Fault.Reset(), { times: 4 })
      statuses.push(statusOf((yield* caught(readConsumer("42")))?.error))
      assert.deepStrictEqual(statuses, [500, 500, 503])
    }).pipe(Effect.provide(Simulator.layer())))

  for (
    const [fault, tag, status] of [
      [Fault.oauthError(401, "invalid_client"), "InvalidClient", 500],
      [Fault.Response({ status: 503, headers: { "retry-after": "60" } }), "ServerError", 503]
    ] as const
  ) {
    it.scopedLive(`catches the failure of a token request itself: ${tag}, for which it returns ${status}`, () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        yield* simulator.failTokenRequests(fault)
        const variables = Simulator.layerConfigProvider.pipe(
          Layer.provide(Layer.succeed(Simulator.Simulator, simulator))
        )
        const { dispose, readConsumer } = program(Layer.provide(Clients, variables))
        yield* Effect.addFinalizer(() => dispose)
        const error = (yield* caught(readConsumer("42")))?.error
        assert(TokenError.isTokenError(error))
        assert.deepStrictEqual([error._tag, statusOf(error)], [tag, status])
      }).pipe(Effect.provide(Simulator.layer())))
  }

  it.live("reports a wrong configuration at its start", () =>
    Effect.gen(function*() {
      const nothing = Layer.setConfigProvider(ConfigProvider.fromMap(new Map()))
      const { run } = program(Layer.provide(Clients, nothing))
      const error = (yield* caught(run(Effect.void)))?.error
      assert.include(String(error), "CREDIT_DATA_CLIENT_ID")
    }))
})
