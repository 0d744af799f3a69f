/**
 * Enablement Services: the endpoint group of the scope `serviceplus:all`.
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
 * An HttpClient for Enablement Services. The token must cover `serviceplus:all`. For a token of Auth V1, the server decides.
 *
 * @since 1.0.0
 * @category services
 * @example
 * ```ts
 * import { EnablementServices } from "@credit-data/http-client"
 * import { Effect } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const client = yield* EnablementServices.EnablementServices
 *   const response = yield* client.get("/enablement-services/services/42")
 *   return yield* response.json
 * })
 * ```
 */
export class EnablementServices extends Context.Tag("@credit-data/http-client/EnablementServices")<
  EnablementServices,
  GroupClient.GroupClient<"Enablement Services">
>() {}

/**
 * The client of Enablement Services. Its tokens and its base URL come from the supply.
 *
 * Building the layer fails with a `ConfigError` if the supply requests scopes and `serviceplus:all` is not among them, or if its base URL is
 * not valid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (
  settings: GroupClient.Settings = {}
): Layer.Layer<EnablementServices, ConfigError.ConfigError, AccessTokens.AccessTokens | HttpClient.HttpClient> =>
  GroupClient.layer(EnablementServices, { ...settings, name: "Enablement Services", scope: "serviceplus:all" })

/**
 * A fake of Enablement Services for tests, without a server and without tokens. The handler responds to each call, and `Fake.calls`
 * returns the calls.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { EnablementServices } from "@credit-data/http-client"
 *
 * export const Test = EnablementServices.layerTest(() => Response.json({ id: 42 }))
 * ```
 */
export const layerTest = (handler: Fake.Handler): Layer.Layer<EnablementServices> =>
  Layer.effect(EnablementServices, Fake.make("Enablement Services", handler))
