import type { AccessTokens } from "@credit-data/core"
import { HttpError } from "@credit-data/core/Internal"
import { DataAccess, type GroupClient } from "@credit-data/http-client"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { HttpClient, type HttpClientRequest } from "@effect/platform"
import { Effect } from "effect"
import { over, rejecting, supply, transport } from "./fakes.ts"

/** Makes a call to Data Access over this client. */
export const callOver = <A, E>(
  client: HttpClient.HttpClient,
  use: (client: Effect.Effect.Success<typeof DataAccess.DataAccess>) => Effect.Effect<A, E>,
  options: Parameters<typeof supply>[0] = {}
) =>
  Effect.gen(function*() {
    const layer = over(DataAccess.layer(), yield* supply(options), client)
    return yield* Effect.provide(Effect.flatMap(DataAccess.DataAccess, use), layer)
  })

/** A call with a query. */
export const get = (client: HttpClient.HttpClient) => callOver(client, (client) => client.get("/consumers/42?page=2"))

/** A client whose transport fails with this cause. */
export const failingWith = (
  makeCause: (request: HttpClientRequest.HttpClientRequest) => unknown,
  description?: string
) =>
  HttpClient.make((request) =>
    Effect.fail(
      HttpError.requestError("Transport", {
        request,
        cause: makeCause(request),
        ...(description === undefined ? {} : { description })
      })
    )
  )

/** Makes a call to Data Access, and returns its result, the requests that were sent, and the spans. */
export const call = Effect.fnUntraced(function*<A, E>(
  use: (client: GroupClient.GroupClient) => Effect.Effect<A, E>,
  options: {
    readonly respond?: Parameters<typeof transport>[0]
    /** A client in the place of one that responds. */
    readonly client?: HttpClient.HttpClient
    readonly supply?: Parameters<typeof supply>[0]
    readonly changeTokens?: (tokens: AccessTokens.Service) => Partial<AccessTokens.Service>
    readonly settings?: GroupClient.Settings
  } = {}
) {
  const { spans, tracer } = recordingTracer()
  const { client, sent } = yield* transport(options.respond ?? rejecting())
  const tokens = yield* supply(options.supply)
  const layer = over(
    DataAccess.layer(options.settings),
    { ...tokens, ...options.changeTokens?.(tokens) },
    options.client ?? client
  )
  const exit = yield* Effect.exit(Effect.provide(Effect.flatMap(DataAccess.DataAccess, use), layer)).pipe(
    Effect.withTracer(tracer)
  )
  return { sent: yield* sent, exit, value: yield* Effect.either(exit), spans }
})
