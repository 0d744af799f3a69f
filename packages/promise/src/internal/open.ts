import * as AccessTokens from "@credit-data/core/AccessTokens"
import { readiness } from "@credit-data/core/Internal"
import * as TokenStatus from "@credit-data/core/TokenStatus"
import * as DataAccess from "@credit-data/http-client/DataAccess"
import * as EnablementServices from "@credit-data/http-client/EnablementServices"
import * as Fetch from "@credit-data/http-client/Fetch"
import * as Furnishment from "@credit-data/http-client/Furnishment"
import type { GroupClient } from "@credit-data/http-client/GroupClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as ConfigError from "effect/ConfigError"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { Connection, Group, Status } from "../Connection.ts"
import { settle, toError } from "./settle.ts"

type Supply = AccessTokens.AccessTokens | HttpClient.HttpClient

/** What a connection is made of. */
export interface Layers {
  readonly supply: Layer.Layer<Supply, unknown>
  readonly dataAccess: Layer.Layer<DataAccess.DataAccess, ConfigError.ConfigError, Supply>
  readonly furnishment: Layer.Layer<Furnishment.Furnishment, ConfigError.ConfigError, Supply>
  readonly enablementServices: Layer.Layer<EnablementServices.EnablementServices, ConfigError.ConfigError, Supply>
}

interface Functions {
  readonly fetch: typeof globalThis.fetch
  readonly call: Fetch.Call
}

const functionsOf = (client: GroupClient): Effect.Effect<Functions, never, Scope.Scope> =>
  Effect.all({ fetch: Fetch.make(client), call: Fetch.makeCall(client) })

/** A client may be registered for one group only. The others reject, and name what is missing. */
const offered = <A, R>(
  functions: Effect.Effect<Functions, never, A | Scope.Scope>,
  layer: Layer.Layer<A, ConfigError.ConfigError, R>
): Effect.Effect<Functions, never, R | Scope.Scope> =>
  Effect.flatMap(Layer.build(layer), (context) => Effect.provide(functions, context)).pipe(
    Effect.catchAll((error) => {
      const refuse = () => Promise.reject(toError(error))
      return Effect.succeed({ fetch: refuse, call: refuse })
    })
  )

const dateOf = (time: Option.Option<DateTime.Utc>): Date | undefined =>
  Option.getOrUndefined(Option.map(time, DateTime.toDate))

const plain = (status: TokenStatus.TokenStatus): Status => {
  const { clientId, expiresAt, failingSince, lastFailure, nextRequestAt, requestedAt, store: _, version, ...others } =
    status
  return {
    ...others,
    usable: TokenStatus.isUsable(status),
    clientId: Option.getOrUndefined(clientId),
    version: Option.getOrUndefined(version),
    requestedAt: dateOf(requestedAt),
    expiresAt: dateOf(expiresAt),
    nextRequestAt: dateOf(nextRequestAt),
    lastFailure: Option.getOrUndefined(lastFailure),
    failingSince: dateOf(failingSince)
  }
}

/** Opens a connection. What was built is released when it closes, and when opening fails. */
export const open = async (layers: Layers): Promise<Connection> => {
  const scope = await settle(Scope.make())
  let closed: Promise<void> | undefined
  const close = () => closed ??= settle(Scope.close(scope, Exit.void))
  const build = Effect.gen(function*() {
    const supply = yield* Layer.build(layers.supply)
    const groups = yield* Effect.provide(
      Effect.all({
        dataAccess: offered(Effect.flatMap(DataAccess.DataAccess, functionsOf), layers.dataAccess),
        furnishment: offered(Effect.flatMap(Furnishment.Furnishment, functionsOf), layers.furnishment),
        enablementServices: offered(
          Effect.flatMap(EnablementServices.EnablementServices, functionsOf),
          layers.enablementServices
        )
      }),
      supply
    )
    return { groups, tokens: yield* Effect.provide(AccessTokens.AccessTokens, supply) }
  })
  try {
    const { groups, tokens } = await settle(Scope.extend(build, scope))
    const fetchOf = (group: Group) => groups[group].fetch
    return {
      dataAccess: fetchOf("dataAccess"),
      furnishment: fetchOf("furnishment"),
      enablementServices: fetchOf("enablementServices"),
      call: async (group, method, template, values, init) => groups[group].call(method, template, values, init),
      token: () => settle(Effect.map(tokens.get, ({ secret }) => Redacted.value(secret))),
      ready: () => settle(Effect.map(readiness(tokens), ({ isReady }) => isReady)),
      status: () => settle(Effect.map(tokens.status, plain)),
      close,
      [Symbol.asyncDispose]: close
    }
  } catch (error) {
    await close()
    throw error
  }
}
