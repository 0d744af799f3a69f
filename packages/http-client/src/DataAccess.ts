/**
 * Data Access: the endpoint group of the scope `data-access:all`.
 *
 * @since 1.0.0
 */
import type * as AccessTokens from "@credit-data/core/AccessTokens"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Fake from "./Fake.ts"
import * as GroupClient from "./GroupClient.ts"

/**
 * An HttpClient for Data Access. The token must cover `data-access:all`. For a token of Auth V1, the server decides.
 *
 * @since 1.0.0
 * @category services
 * @example
 * ```ts
 * import { DataAccess } from "@credit-data/http-client"
 * import { Effect } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const client = yield* DataAccess.DataAccess
 *   const response = yield* client.get("/data-access/consumers/42")
 *   return yield* response.json
 * })
 * ```
 */
export class DataAccess
  extends Context.Tag("@credit-data/http-client/DataAccess")<DataAccess, GroupClient.GroupClient<"Data Access">>()
{}

/**
 * The client of Data Access. Its tokens and its base URL come from the supply.
 *
 * Building the layer fails with a `ConfigError` if the supply requests scopes and `data-access:all` is not among them, or if its base URL is
 * not valid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (
  settings: GroupClient.Settings = {}
): Layer.Layer<DataAccess, ConfigError.ConfigError, AccessTokens.AccessTokens | HttpClient.HttpClient> =>
  GroupClient.layer(DataAccess, { ...settings, name: "Data Access", scope: "data-access:all" })

/**
 * A fake of Data Access for tests, without a server and without tokens. The handler responds to each call, and `Fake.calls` returns the calls.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { DataAccess } from "@credit-data/http-client"
 *
 * export const Test = DataAccess.layerTest(() => Response.json({ id: 42 }))
 * ```
 */
export const layerTest = (handler: Fake.Handler): Layer.Layer<DataAccess> =>
  Layer.effect(DataAccess, Fake.make("Data Access", handler))
