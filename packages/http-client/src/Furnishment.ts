/**
 * Furnishment: the endpoint group of the scope `furnishment:all`.
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
 * An HttpClient for Furnishment. The token must cover `furnishment:all`. For a token of Auth V1, the server decides.
 *
 * @since 1.0.0
 * @category services
 * @example
 * ```ts
 * import { Furnishment } from "@credit-data/http-client"
 * import { Effect } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const client = yield* Furnishment.Furnishment
 *   const response = yield* client.get("/furnishment/submissions/42")
 *   return yield* response.json
 * })
 * ```
 */
export class Furnishment
  extends Context.Tag("@credit-data/http-client/Furnishment")<Furnishment, GroupClient.GroupClient<"Furnishment">>()
{}

/**
 * The client of Furnishment. Its tokens and its base URL come from the supply.
 *
 * Building the layer fails with a `ConfigError` if the supply requests scopes and `furnishment:all` is not among them, or if its base URL is
 * not valid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (
  settings: GroupClient.Settings = {}
): Layer.Layer<Furnishment, ConfigError.ConfigError, AccessTokens.AccessTokens | HttpClient.HttpClient> =>
  GroupClient.layer(Furnishment, { ...settings, name: "Furnishment", scope: "furnishment:all" })

/**
 * A fake of Furnishment for tests, without a server and without tokens. The handler responds to each call, and `Fake.calls` returns the calls.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { Furnishment } from "@credit-data/http-client"
 *
 * export const Test = Furnishment.layerTest(() => Response.json({ id: 42 }))
 * ```
 */
export const layerTest = (handler: Fake.Handler): Layer.Layer<Furnishment> =>
  Layer.effect(Furnishment, Fake.make("Furnishment", handler))
