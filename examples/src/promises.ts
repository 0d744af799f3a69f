// Calls from code that is not written in Effect. One runtime runs the whole program and returns promises. At the end,
// `dispose` releases everything. The runtime contains the supply: a new runtime for each call would send a token request for
// each call.

import { AuthV2 } from "@credit-data/auth-v2"
import { TokenError } from "@credit-data/core"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { HttpClientError } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Cause, Effect, Exit, Layer, ManagedRuntime } from "effect"

const runtime = ManagedRuntime.make(
  DataAccess.layer().pipe(
    Layer.provide(AuthV2.layerConfig()),
    Layer.provide([NodeHttpClient.layer, Simulator.layerConfigProvider]),
    Layer.provideMerge(Simulator.layer())
  )
)

/** Rejects with the error itself. On Effect 3, `runtime.runPromise` rejects with a wrapper, which has no `retryable`. */
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

/** The status for your own callers: 503 if a later attempt can succeed, otherwise 500. */
const statusOf = (error: unknown): 500 | 503 => {
  if (TokenError.isTokenError(error)) return error.retryable ? 503 : 500
  return HttpClientError.isHttpClientError(error) && error._tag === "RequestError" && error.reason === "Transport"
    ? 503
    : 500
}

const simulated = <A>(use: (simulator: Simulator.Service) => Effect.Effect<A>) =>
  runtime.runPromise(Effect.flatMap(Simulator.Simulator, use))

try {
  // fails if the configuration is wrong
  await run(Effect.void)
  console.log(await Promise.all(["41", "42", "43"].map(readConsumer)))
  console.log(`token requests: ${await simulated((simulator) => simulator.tokenRequests)}`)

  await simulated((simulator) => simulator.failCalls(Fault.Reset(), { times: 4 }))
  await readConsumer("44").catch((error: unknown) => console.log(`the connection was reset: ${statusOf(error)}`))
  await readConsumer("..").catch((error: unknown) => console.log(`the id was refused: ${statusOf(error)}`))
} finally {
  await runtime.dispose()
}
